"""The search channels, their fusion and the receipts."""
