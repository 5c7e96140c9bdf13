"""The methods of a tokenizer for chats: messages to a text, or to its ids, by the tokenizer's chat
template.

In: a tokenizer and messages. Out: a text, ids, or a `BatchEncoding`. `render` makes the text, and
notes which parts of it the template says the assistant wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from trietok import log
from trietok.errors import (
    InputError,
    InputTypeError,
    MissingDependencyError,
    NotSupportedError,
    TrietokError,
    brief,
    installing,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import Padding
from trietok.inputs.tensors import Tensors
from trietok.later import Any, contextvars, copy, json, re
from trietok.named_tuple import NamedTuple

# A template is a program. jinja2 runs it in its sandbox, in which it can neither change what it is
# given nor reach attributes whose names begin with an underscore.
_GENERATION = r"\{%-?\s*generation\s*-?%\}"
_END = (  # where the text is to stop
    "\N{SYMBOL FOR END OF TEXT}end of the final message\N{SYMBOL FOR END OF TEXT}"
)


class Rendered(NamedTuple):
    """The text of a chat, and the half-open spans of it that stand in a template's `generation`
    blocks.
    """

    text: str
    generated: list[tuple[int, int]]


class _Track(NamedTuple):
    """What has been written of a text so far, piece by piece, and the spans noted in it."""

    pieces: list[str]
    spans: list[tuple[int, int]]


# What is being rendered in this thread or task, if its spans are asked for.
@lru_cache(maxsize=1)
def _tracking() -> contextvars.ContextVar[_Track | None]:
    return contextvars.ContextVar("_track", default=None)


def render(
    template: str,
    chats: list[Any],
    tools: Any,
    documents: Any,
    told: Mapping[str, Any],
    continues: bool,
    with_spans: bool,
) -> list[Rendered]:
    """The text of each chat, each given by its messages; `told` are other variables of the
    template.
    """
    jinja2 = _jinja2()
    if with_spans and not re.search(_GENERATION, template):
        log.warning(
            "the chat template has no {% generation %} block, so no token counts as the assistant's"
        )
    for name, value in (("tools", tools), ("documents", documents)):
        if value is not None and not isinstance(value, (list, tuple)):
            raise InputTypeError(
                f"{name} are given as a list, not as {type(value).__name__}", value=value
            )
    for document in documents or ():
        if not isinstance(document, dict):
            raise InputTypeError(
                f"a document is a dict with title and text, not {type(document).__name__}",
                value=document,
            )
    given = {"tools": None if tools is None else list(map(_schema, tools)), "documents": documents}
    rendered = []
    try:
        compiled = _compiled(template)
        for chat in chats:
            # one by one: chats may share messages
            messages = copy.deepcopy(chat) if continues else chat
            final = _mark_end(messages) if continues else ""
            text, spans = _rendered(compiled, {"messages": messages, **given, **told}, with_spans)
            rendered.append(Rendered(_cut_at_end(text, final) if continues else text, spans))
    except jinja2.TemplateSyntaxError as error:
        raise InputError(
            f"line {error.lineno} of the chat template is not valid: {error.message}"
        ) from error
    except jinja2.TemplateError as error:
        raise InputError(f"the chat template refuses the chat: {error.message}") from error
    except TrietokError:
        raise
    except Exception as error:  # a program can fail in any way
        raise InputError(
            f"the chat template fails on the chat: {type(error).__name__}: {error}"
        ) from error
    return rendered


def _schema(tool: Any) -> dict[str, Any]:
    if isinstance(tool, dict):
        return tool
    if callable(tool):
        raise NotSupportedError(
            f"a tool is given as a JSON schema here, and {getattr(tool, '__name__', tool)!s:.60} is"
            " a function; transformers.utils.get_json_schema makes a schema of one",
            name="tools",
        )
    raise InputTypeError(f"a tool is a JSON schema, a dict, not {type(tool).__name__}", value=tool)


def _mark_end(messages: list[Any]) -> str:
    """Mark the end of the final message's text, and return that text; of several blocks the last
    with text counts.
    """
    final = messages[-1]
    content = final["content"]
    if not isinstance(content, (list, tuple)):
        final["content"] = content + _END + " "
        return str(content)
    for block in reversed(content):
        if "text" in block:
            text = str(block["text"])
            block["text"] = text + _END + " "
            return text
    raise InputError(
        "continue_final_message needs a text to continue, and the final message has none"
    )


def _cut_at_end(text: str, final: str) -> str:
    place = text.rfind(_END)
    if place < 0 or final.strip() not in text:
        raise InputError(
            "continue_final_message needs the final message in the text of the chat, and the chat"
            " template leaves it out, or a part of it"
        )
    if _END in text[:place]:
        raise InputError(
            "continue_final_message needs the final message once in the text of the chat, and the"
            " chat template writes it more than once"
        )
    # A template that strips the message has taken off the space that was put behind the mark; then
    # the text before the mark is to lose its own spaces too.
    return text[:place] if text.startswith(" ", place + len(_END)) else text[:place].rstrip()


def _rendered(compiled: Any, variables: Mapping[str, Any], with_spans: bool) -> Rendered:
    if not with_spans:
        return Rendered(compiled.render(**variables), [])
    track = _Track([], [])
    before = _tracking().set(track)
    try:
        for piece in compiled.generate(**variables):
            track.pieces.append(piece)
    finally:
        _tracking().reset(before)
    return Rendered("".join(track.pieces), track.spans)


def _jinja2() -> Any:
    try:
        import jinja2
        import jinja2.ext
        import jinja2.sandbox
    except ImportError:
        raise MissingDependencyError(
            f"a chat template needs jinja2: {installing('chat')}", extra="chat"
        ) from None
    return jinja2


def syntax_error(template: str) -> tuple[int, str] | None:
    """The line at which a template does not parse, and why; None if it does, or without jinja2.
    Runs nothing.
    """
    try:
        jinja2 = _jinja2()
        _environment().parse(template)
    except MissingDependencyError:
        return None
    except jinja2.TemplateSyntaxError as error:
        return error.lineno, str(error.message)
    except RecursionError:
        return 1, "it is nested too deeply"
    return None


@lru_cache(maxsize=32)
def _compiled(template: str) -> Any:
    return _environment().from_string(template)


@lru_cache(maxsize=1)
def _environment() -> Any:
    """The environment that templates are written for."""
    jinja2 = _jinja2()

    class Generation(jinja2.ext.Extension):  # type: ignore[misc, name-defined]
        """`{% generation %}` ... `{% endgeneration %}`: the block, whose place in the text is
        noted.
        """

        tags = {"generation"}

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_noted"), [], [], body).set_lineno(line)

        def _noted(self, caller: Any) -> str:
            text: str = caller()
            track = _tracking().get()
            if track is not None:
                start = sum(map(len, track.pieces))
                track.spans.append((start, start + len(text)))
            return text

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals.update(raise_exception=_raise, strftime_now=_now)
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """JSON as it is; Jinja's own filter escapes what HTML gives a meaning."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise(message: str) -> None:
    raise _jinja2().TemplateError(message)


def _now(form: str) -> str:
    from datetime import datetime  # few templates ask for the date

    return datetime.now().strftime(form)


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
