"""Ids to what a model takes: truncation, special tokens around, masks, padding, tensors."""
