"""A user's mistakes: each line that ends in a comment is an error to mypy --strict, with that code,
and to pyright.
"""

# ruff: noqa: B018

import trietok

tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
fast = trietok.BertTokenizerFast.from_pretrained("trietok-en")
auto = trietok.AutoTokenizer.from_pretrained("trietok-en")

tokenizer("a text", padding="longes")  # arg-type
tokenizer("a text", max_lenght=4)  # call-arg
tokenizer("a text", pad_to_max_length=True)  # call-arg
tokenizer(123)  # arg-type
tokenizer({"text": "a"})  # arg-type
tokenizer("a text", truncation="longest")  # arg-type
tokenizer("a text", return_tensors="tf")  # arg-type
tokenizer("a text", max_length="4")  # arg-type
fast("a text", max_lenght=4)  # call-arg
auto("a text", max_lenght=4)  # call-arg

tokenizer.chunks("a text", 8, at="words")  # arg-type
tokenizer.encode_flat("a text", padding=True)  # call-arg
tokenizer.encode("a text", max_lenght=4)  # call-overload
tokenizer.encode("a text", return_tensors="tf")  # call-overload
text: str = tokenizer.encode("a text")  # assignment
tokenizer.encode("a text").shape  # attr-defined
tokenizer.tokenize(123)  # arg-type
tokenizer.decode("a text")  # arg-type
tokenizer.decode([2, 3], skip_special_token=True)  # call-arg
tokenizer.pad([{"input_ids": [2]}], padding="longes")  # arg-type
tokenizer.batch_encode_plus(["a"], max_lenght=4)  # call-arg

tokenizer("a text").inputs_ids  # attr-defined
tokenizer.pad_tokn  # attr-defined
tokenizer.pad_token = 0  # assignment
tokenizer.pad_token.upper()  # union-attr
tokenizer.padding_side = "lft"  # assignment
trietok.BertTokenizer.from_pretrained(123)  # arg-type
tokenizer.add_tokens(["x"], lstrip=True)  # arg-type

trietok.compare(tokenizer, fast).okay  # attr-defined
trietok.count_words(["a"], processes=2)  # call-arg
trietok.suggest_tokens(tokenizer, ["a"], max_suggestions=2)  # call-arg
