"""A directory of tokenizer files to plain values and back."""
