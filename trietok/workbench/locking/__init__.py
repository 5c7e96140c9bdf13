"""Whether the ids of a tokenizer are still those that were written down, and the same tokenizer as
another file.
"""
