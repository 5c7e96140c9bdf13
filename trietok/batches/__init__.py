"""Corpora: files and tables of text to ids, and batches for training.

Each module imports pyarrow and the like where it is used; the extra `parquet` installs them.
"""
