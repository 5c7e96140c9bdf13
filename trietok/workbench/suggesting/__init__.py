"""Which words become the unknown token, and which are worth a token of their own."""
