"""How values are shown: names of characters, columns of a terminal, and fragments of HTML."""
