"""The methods of a tokenizer for chats: messages to a text, or to its ids, by the tokenizer's chat
template.

In: a tokenizer and messages. Out: a text, ids, or a `BatchEncoding`. `chat_rendering` makes the
text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trietok.errors import (
    InputError,
    InputTypeError,
    brief,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import Padding
from trietok.inputs.tensors import Tensors
from trietok.later import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trietok.tokenizer.chat_rendering import Rendered

Message = dict[str, Any]
Conversation = Sequence[Message]
Templates = str | dict[str, str] | None
_OF_CALL = {"padding", "truncation", "max_length", "return_tensors", "add_special_tokens", "text"}


def named_templates(value: Any) -> Templates:
    """A list of objects with `name` and `template`, as tokenizer_config.json holds it, as a dict;
    all else as it is.

    Raises:
        InputTypeError: it is none of the forms of `chat_template`.

    >>> named_templates([{"name": "default", "template": "a"}]), named_templates("a")
    ({'default': 'a'}, 'a')
    """
    named = value
    if isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
        named = {item.get("name"): item.get("template") for item in value}
    texts = (
        [text for pair in named.items() for text in pair] if isinstance(named, Mapping) else [named]
    )
    if named is not None and not all(isinstance(text, str) for text in texts):
        raise InputTypeError(
            "chat_template is a template, a str, or a dict of names and templates, not"
            f" {value!r:.60}",
            value=value,
        )
    templates: Templates = named
    return templates


def apply_chat_template(
    self: Any,
    conversation: Conversation | Sequence[Conversation],
    tools: list[dict[str, Any] | Callable[..., Any]] | None = None,
    documents: list[dict[str, str]] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
    tokenize: bool = True,
    padding: Padding = False,
    truncation: bool = False,
    max_length: int | None = None,
    return_tensors: Tensors = None,
    return_dict: bool = False,
    return_assistant_tokens_mask: bool = False,
    tokenizer_kwargs: dict[str, Any] | None = None,
    **kwargs: Any,
) -> Any:
    """The ids of a chat, or of a batch of chats, as the chat template writes them. It needs the
    extra `chat`.

    The template is a program that came with the tokenizer. It runs in Jinja's sandbox; see
    `SECURITY.md`.

    Args:
        conversation: messages, each a dict with `role` and `content`; or a list of such lists.
        tools: JSON schemas, told to the template.
        documents: dicts with `title` and `text`, told to the template.
        chat_template: another template, or the name of one of the tokenizer's; None for its own.
        add_generation_prompt: tell the template to end with the beginning of an answer.
        continue_final_message: end within the final message, so that a model continues it.
        tokenize: give ids; else the text.
        padding, truncation, max_length, return_tensors: as in a call.
        return_dict: give a `BatchEncoding`, not only its `input_ids`.
        return_assistant_tokens_mask: with `return_dict`, add `assistant_masks`: 1 for each token
            that stands, wholly or partly, in a `{% generation %}` block of the template, 0 for the
            others.
        tokenizer_kwargs: other options of the call.
        **kwargs: told to the template; they override the special tokens, which it is told too.

    Returns:
        A list of ids, or one for each chat; a str, or a list of str, with `tokenize=False`; a
        `BatchEncoding` with `return_dict`. No special tokens are put around: the template writes
        those that it wants.

    Raises:
        InputError: there is no template, it is not valid or refuses the chat; or options exclude
            each other.
        InputTypeError: a conversation, a document or a tool is of another type.
        NotSupportedError: a tool is a function.
        MissingDependencyError: jinja2 is not installed.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> tokenizer.chat_template = (
    ...     "{% for message in messages %}{{ message.content }} {{ sep_token }}{% endfor %}"
    ... )
    >>> tokenizer.apply_chat_template([{"role": "user", "content": "the people"}], tokenize=False)
    'the people [SEP]'
    """
    with brief:
        _check_together(
            return_dict,
            tokenize,
            return_assistant_tokens_mask,
            add_generation_prompt,
            continue_final_message,
        )
        # template, special tokens and ids are of one state
        state = self._pinned() if tokenize else self._frozen()
        template = state.get_chat_template(chat_template, tools)
        first = (
            conversation[0] if isinstance(conversation, (list, tuple)) and conversation else None
        )
        is_batch = isinstance(first, (list, tuple)) or hasattr(first, "messages")
        chats = list(map(_messages_of, conversation if is_batch else [conversation]))
        options = dict(tokenizer_kwargs or {})
        twice = _OF_CALL & options.keys()
        if twice:
            raise InputError(
                f"{min(twice)} is an option of apply_chat_template itself; pass it beside"
                " tokenizer_kwargs, not in it"
            )
        told = {
            "add_generation_prompt": add_generation_prompt,
            **state.special_tokens_map,
            **kwargs,
        }
        from trietok.tokenizer.chat_rendering import render  # not needed to encode

        rendered = render(
            template,
            chats,
            tools,
            documents,
            told,
            continue_final_message,
            return_assistant_tokens_mask,
        )
        texts = [chat.text for chat in rendered]
        text = texts if is_batch else texts[0]
        if not tokenize:
            return text
        encoding: BatchEncoding = state(
            text,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            add_special_tokens=False,
            return_tensors=return_tensors,
            **options,
        )
        if not return_dict:
            return encoding["input_ids"]
        if return_assistant_tokens_mask:
            ids = encoding["input_ids"]  # of one chat too they are several rows where it overflows
            has_rows = (
                is_batch
                or return_tensors is not None
                or (bool(ids) and not isinstance(ids[0], int))
            )
            masks = _masks(encoding, rendered, has_rows)
            encoding["assistant_masks"] = masks if has_rows else masks[0]
            encoding.convert_to_tensors(return_tensors)
        return encoding


def _check_together(
    return_dict: bool, tokenize: bool, with_mask: bool, with_prompt: bool, continues: bool
) -> None:
    """Raise where options exclude each other."""
    if return_dict and not tokenize:
        raise InputError(
            "return_dict=True is for ids, and tokenize=False gives a text; leave one of them out"
        )
    if with_mask and not return_dict:
        raise InputError(
            "return_assistant_tokens_mask=True adds to a dict; pass return_dict=True too"
        )
    if continues and with_prompt:
        raise InputError(
            "continue_final_message goes on with the final message, and add_generation_prompt"
            " begins another; give one"
        )
    if continues and with_mask:
        raise InputError(
            "continue_final_message and return_assistant_tokens_mask do not go together; give one"
        )


def _messages_of(chat: Any) -> Any:
    messages = getattr(chat, "messages", chat)
    if isinstance(messages, (str, bytes, Mapping)):
        what = "a conversation is a list of messages, [{'role': ..., 'content': ...}], not a "
        raise InputTypeError(f"{what}{type(messages).__name__}", value=chat)
    if not messages:
        raise InputError(
            "the conversation has no messages; give a list of dicts with role and content"
        )
    return messages


def _masks(encoding: BatchEncoding, rendered: list[Rendered], has_rows: bool) -> list[list[int]]:
    def is_in(span: Any, generated: list[tuple[int, int]]) -> int:
        return int(
            span is not None
            and any(start < span.end and span.start < end for start, end in generated)
        )

    rows = encoding["input_ids"] if has_rows else [encoding["input_ids"]]
    chats = encoding.get("overflow_to_sample_mapping", range(len(rows)))
    return [
        [
            is_in(encoding.token_to_chars(row, token), rendered[int(chat)].generated)
            for token in range(len(ids))
        ]
        for row, (ids, chat) in enumerate(zip(rows, chats, strict=True))
    ]


def encode_message_with_chat_template(
    self: Any, message: Message, conversation_history: list[Message] | None = None, **kwargs: Any
) -> list[int]:
    """The ids of one message of a chat: those that it adds to the ids of the messages before.

    They begin where the ids with the message differ from the ids without it.

    Args:
        message: a dict with `role` and `content`.
        conversation_history: the messages before.
        **kwargs: options of `apply_chat_template`, but for `add_generation_prompt`.

    Raises:
        InputError: `add_generation_prompt`, `return_dict`, `return_tensors` or `tokenize=False` is
            given, or as `apply_chat_template`.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> tokenizer.chat_template = (
    ...     "{% for message in messages %}{{ message.content }} {{ sep_token }}{% endfor %}"
    ... )
    >>> tokenizer.encode_message_with_chat_template({"content": "people"}, [{"content": "the"}])
    [289, 3]
    """
    with brief:
        if "add_generation_prompt" in kwargs:
            raise InputError(
                "a message alone has no generation prompt; leave add_generation_prompt out"
            )
        for name, usual in (("return_dict", False), ("tokenize", True), ("return_tensors", None)):
            if kwargs.get(name, usual) != usual:
                raise InputError(f"the ids of one message are a list; leave {name} out")
        before = conversation_history or []
        state = self._pinned()
        ids: list[int] = state.apply_chat_template([*before, message], **kwargs)
        if not before:
            return ids
        first: list[int] = state.apply_chat_template(before, **kwargs)
        same = next(
            (place for place, (a, b) in enumerate(zip(first, ids, strict=False)) if a != b),
            len(first),
        )
        return ids[same:]


def get_chat_template(
    self: Any, chat_template: str | None = None, tools: list[Any] | None = None
) -> str:
    """The chat template that `apply_chat_template` uses for these arguments.

    Args:
        chat_template: a template, or the name of one of the tokenizer's; None for its own.
        tools: where some are given, a template of the name `tool_use` comes first.

    Raises:
        InputError: there is none, or there are several and none is `default`.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained(
    ...     "trietok-en", chat_template={"default": "a", "tool_use": "b"}
    ... )
    >>> tokenizer.get_chat_template(), tokenizer.get_chat_template(tools=[{}])
    ('a', 'b')
    """
    with brief:
        return _choose(self.chat_template, chat_template, tools is not None)


def _choose(templates: Any, asked: str | None, has_tools: bool) -> str:
    """The template for a chat."""
    if isinstance(templates, dict):
        if asked is not None:
            return str(templates.get(asked, asked))
        for name in ("tool_use", "default") if has_tools else ("default",):
            if name in templates:
                return str(templates[name])
        if templates:
            names = ", ".join(sorted(map(repr, templates)))
            raise InputError(
                f"no chat template is named 'default'; pass chat_template= one of {names}"
            )
        templates = None
    if asked is not None:
        return asked
    if templates is None:
        raise InputError(
            "the tokenizer has no chat template; set tokenizer.chat_template, or pass"
            " chat_template=..."
        )
    return str(templates)
