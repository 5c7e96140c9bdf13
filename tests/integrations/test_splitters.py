"""Programs that cut texts by their number of tokens: the pieces are those with transformers' own
tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs
from tests.integrations.conftest import LONG, TEXTS, their_tokenizer
from tests.integrations.page import run_line, rust_of

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("offline")]

TEXT = "\n\n".join([LONG, *TEXTS, LONG])


def test_langchain(tokenizer, theirs):
    splitters = needs("langchain_text_splitters")
    kind = splitters.RecursiveCharacterTextSplitter
    ours = run_line(
        "LangChain text splitters", RecursiveCharacterTextSplitter=kind, tokenizer=tokenizer
    )
    pieces = ours.split_text(TEXT)
    assert pieces == kind.from_huggingface_tokenizer(
        theirs, chunk_size=40, chunk_overlap=8
    ).split_text(TEXT)
    assert len(pieces) > 5
    with pytest.raises(ValueError, match="PreTrainedTokenizerBase"):
        kind.from_huggingface_tokenizer(tokenizer)


def test_docling(tokenizer, theirs):
    needs("docling_core")
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.huggingface import HuggingFaceTokenizer
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.labels import DocItemLabel

    document = DoclingDocument(name="a document")
    for text in (LONG, *TEXTS, LONG):
        document.add_text(label=DocItemLabel.PARAGRAPH, text=text)
    ours = run_line("docling-core", HuggingFaceTokenizer=HuggingFaceTokenizer, tokenizer=tokenizer)
    others = HuggingFaceTokenizer(tokenizer=theirs, max_tokens=40)
    chunks = [
        [each.text for each in HybridChunker(tokenizer=made).chunk(document)]
        for made in (ours, others)
    ]
    assert chunks[0] == chunks[1]
    assert len(chunks[0]) > 5


def test_semantic_text_splitter(tokenizer: Any, directory: Path):
    library = needs("semantic_text_splitter")
    names = {"TextSplitter": library.TextSplitter, **rust_of(tokenizer)}
    ours = run_line("semantic-text-splitter", tokenizer=tokenizer, **names)
    rust = their_tokenizer("fast", directory).backend_tokenizer
    rust.no_truncation()
    pieces = ours.chunks(TEXT)
    assert pieces == library.TextSplitter.from_huggingface_tokenizer(rust, 40).chunks(TEXT)
    assert len(pieces) > 5
