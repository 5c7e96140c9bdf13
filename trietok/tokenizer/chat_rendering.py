"""The texts of chats, which a chat template makes of messages.

In: a template and messages. Out: their texts, and which parts of them the template says the
assistant wrote. A template is a program, which jinja2 runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from trietok import log
from trietok.errors import (
    InputError,
    InputTypeError,
    MissingDependencyError,
    NotSupportedError,
    TrietokError,
    installing,
)
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
