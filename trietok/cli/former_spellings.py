"""Former spellings of options and arguments, which commands take for one version and say what
replaces them.

In: the arguments of a command as they were typed. Out: the same call as it is spelt now, and lines
on standard error.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from trietok.cli.output import warn
from trietok.files.texts import STANDARD_INPUT

FILES, NOTHING = "FILES", ""  # what replaces an option besides an option
# What a command took, and what it takes now. A command that has an option of a former name takes it
# as it is.
OPTIONS: dict[str, dict[str, str]] = {
    "": {  # in all commands that have what replaces it
        "--texts": FILES,
        "-t": FILES,
        "--as": "--way",
        "--errors": "--on-error",
        "--processes": "--workers",
        "--fast": "--profile fast",
        "--slow": "--profile slow",
        "--show": "--most",
    },
    "bench": {"--against": "--with", "--strict": NOTHING},
    "decode": {"--skip-special-tokens": "--no-special-tokens"},
    "encode-files": {"--keep": "--keep-columns", "--with": "--include"},
    "explain": {"--html": "--output"},
    "export": {"--to": "--format", "--strict": NOTHING},
    "rows": {"--tokenizer": "--new-tokenizer"},
    "suggest": {"--apply": "--output"},
}
# The option that takes what was the first argument of a command.
ARGUMENTS = {
    **dict.fromkeys(("adapt", "check", "export", "rows", "trim"), "--model"),
    "add": "--terms",
}


class Command(click.Command):
    """A command that also takes former spellings, and says what replaces them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        wanted = ARGUMENTS.get(self.name or "")
        option = next((each for each in self.params if wanted in each.opts), None)
        ctx.allow_extra_args |= option is not None  # where no FILES take them
        rest = super().parse_args(ctx, self._as_spelt_now(args))
        if option is not None and not ctx.resilient_parsing:
            self._take_first_argument(ctx, option)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, those of each section by themselves."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(each, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def _take_first_argument(self, ctx: click.Context, option: click.Parameter) -> None:
        """Have an option that is not given be the first argument, as that was; what is left are
        FILES.
        """
        files = next((each for each in self.params if each.name == "files"), None)
        given = list(ctx.args if files is None else ctx.params["files"])
        if ctx.params[option.name or ""] is None:
            if given == [STANDARD_INPUT] or len(given) < 1 + (
                files is not None and files.callback is not None
            ):
                raise click.UsageError(f"Missing option {' / '.join(map(repr, option.opts))}.", ctx)
            _say(f"{given[0]} as an argument", f"{option.opts[0]} {given[0]}")
            ctx.params[option.name or ""] = given.pop(0)
        if files is not None:
            ctx.params["files"], given = tuple(given), []
        if given:
            raise click.UsageError(f"Got unexpected extra argument ({given[0]})", ctx)
        ctx.args = []

    def _as_spelt_now(self, args: Sequence[str]) -> list[str]:
        known = {
            FILES if name == "files" else name for each in self.params for name in each.opts
        } | {NOTHING}
        former = {**OPTIONS[""], **OPTIONS.get(self.name or "", {})}
        former = {
            old: new
            for old, new in former.items()
            if old not in known and new.partition(" ")[0] in known
        }
        now: list[str] = []
        files: list[str] = []
        rest = iter(args)
        for arg in rest:
            name, equals, value = arg.partition("=")
            if arg == "--":
                now += [arg, *rest]
            elif name not in former:
                now.append(arg)
            else:
                _say(name, former[name])
                if former[name] == FILES:
                    files.append(value if equals else next(rest, ""))
                else:
                    now += former[name].split()
                    now[-1:] = [f"{each}{equals}{value}" for each in now[-1:]]
        return [*now, *files]


def _say(former: str, now: str) -> None:
    warn(
        f"{former} is spelt {now} now, and the former spelling will go"
        if now
        else f"{former} is what happens anyway"
    )
