"""Other tokenizers on a model's files, each in a process of its own: loading them, and what they
are asked.
"""
