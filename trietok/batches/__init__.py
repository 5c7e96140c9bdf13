"""Encode the texts of tables and files, and make batches for training."""
