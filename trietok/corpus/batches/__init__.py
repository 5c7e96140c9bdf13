"""Examples to batches for training: padding, masks for a language model."""
