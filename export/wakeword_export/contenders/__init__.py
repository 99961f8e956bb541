"""Engines of others that are compared: one file and one entry point each."""
