"""tokenizer.json to plain values and back; the parts live in `trietok.files.tokenizer_json`."""

from trietok.files.tokenizer_json import read_tokenizer_json
from trietok.files.tokenizer_json_writer import write_tokenizer_json

__all__ = ["read_tokenizer_json", "write_tokenizer_json"]
