"""The parts of a save: whose turn it is, the folder in which it is prepared, and putting its files in place."""
