"""The classes that users hold, under HuggingFace's names."""
