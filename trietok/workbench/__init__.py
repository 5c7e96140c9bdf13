"""What is asked of a vocabulary and done with it: the wing above the tokenizers, which never import
it.
"""
