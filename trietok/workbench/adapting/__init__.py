"""A vocabulary and its model changed together: which rows go where, and the files with those
rows.
"""
