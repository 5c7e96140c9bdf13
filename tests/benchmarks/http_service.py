"""The service that `test_http.py` puts under load: texts in, ids out.

TRIETOK_ENGINE in the environment says whose fast tokenizer works in it: `trietok` or
`transformers`. TRIETOK_DIRECTORY is the directory that is loaded.
"""

from __future__ import annotations

import os
from importlib import import_module

from fastapi import FastAPI
from pydantic import BaseModel

_engine = import_module(os.environ["TRIETOK_ENGINE"])
tokenizer = _engine.BertTokenizerFast.from_pretrained(os.environ["TRIETOK_DIRECTORY"])
app = FastAPI()


class Texts(BaseModel):
    """The body of a request."""

    texts: list[str]
    max_length: int


def ids_of(body: Texts) -> list[list[int]]:
    rows: list[list[int]] = tokenizer(
        body.texts, truncation=True, max_length=body.max_length, padding=True
    )["input_ids"]
    return rows


@app.post("/threads")
def threads(body: Texts) -> list[list[int]]:
    """FastAPI calls a function without `async` on one of 40 threads."""
    return ids_of(body)


@app.post("/loop")
async def loop(body: Texts) -> list[list[int]]:
    """On the thread of the event loop, one request after the other."""
    return ids_of(body)
