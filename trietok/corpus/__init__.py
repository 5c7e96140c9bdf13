"""Files and Arrow batches to ids, and batches for training."""
