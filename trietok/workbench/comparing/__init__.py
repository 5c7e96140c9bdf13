"""What differs between two tokenizers."""
