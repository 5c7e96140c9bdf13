"""How fast tokenizers are on a user's text, and whether their ids agree."""
