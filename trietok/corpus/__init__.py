"""Corpora: tables of text to tables of ids, on one machine or on an engine's workers, and batches for training.

Needs the extra `corpus`. Each module imports pyarrow and the like where it is used.
"""
