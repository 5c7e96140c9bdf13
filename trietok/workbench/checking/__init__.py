"""What is wrong with a directory of tokenizer files, and a repaired copy."""
