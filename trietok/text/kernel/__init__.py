"""The compiled kernel: its C files, what builds it, what chooses between it and plain Python, and
its plain twin.
"""
