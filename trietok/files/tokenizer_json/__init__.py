"""tokenizer.json to plain values and back."""
