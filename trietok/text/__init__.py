"""Text to ids, with the span of each token, and back to text."""
