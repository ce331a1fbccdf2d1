"""Protects the commands in the pages for operators: each has its arguments and known options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from assay.cli import cli
from tests.house.sources import ROOT

PAGES = sorted((ROOT / "docs" / "operate").glob("*.md"))

_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
_INDENTED = re.compile(r"^ {4}(.*)$", re.MULTILINE)
_INLINE = re.compile(r"`(assay [^`]* --[^`]*)`")
_COMMAND = re.compile(r"(?:[A-Z_0-9]+=\S+ )*(?:.* exec \S+ )?assay ([a-z].*)")


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each command of a page."""
    text = text.replace("\\\n", " ")  # continued lines
    lines = [line for block in _BLOCK.findall(text) for line in block.splitlines()]
    for line in (*lines, *_INDENTED.findall(text), *_INLINE.findall(text)):
        found = _COMMAND.fullmatch(line)
        if found is not None and " | " not in line:
            yield shlex.split(found[1], comments=True)


def parse(command: click.Command, name: str, words: list[str], parent: click.Context) -> None:
    """Parse the arguments as the command line does. Raises ClickException."""
    context = command.make_context(name, list(words), parent=parent)
    if isinstance(command, click.Group):
        own, below, rest = command.resolve_command(context, words)
        assert below is not None
        parse(below, own or "", rest, context)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_documented_command_can_be_given(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    root = click.Context(cli, info_name="assay")
    for words in commands(text):
        name, command, rest = cli.resolve_command(root, words)
        assert command is not None, words
        try:
            parse(command, name or "", rest, root)
        except click.ClickException as error:
            pytest.fail(f"assay {shlex.join(words)}: {error.format_message()}")


def test_a_wrong_one_is_found() -> None:
    text = "`assay keys create --operator`\n\n    assay keys create --plan pro --label me\n"
    wrong, right = sorted(commands(text), key=len)
    root = click.Context(cli, info_name="assay")
    for words in (wrong, right):
        name, command, rest = cli.resolve_command(root, words)
        assert command is not None
        if words is right:
            parse(command, name or "", rest, root)
            continue
        with pytest.raises(click.ClickException, match="plan"):
            parse(command, name or "", rest, root)
