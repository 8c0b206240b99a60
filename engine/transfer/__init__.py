"""Importers and exporters, one file per format."""
