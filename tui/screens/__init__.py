"""Screens: the six tabs and the flows that open over them."""
