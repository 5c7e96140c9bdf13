"""What happens to a text on its way to ids: the stages, every character that they change, and why
each token is one.
"""
