"""Work of `assay review`: the tokens of a list, analysed and reported in Markdown and in SARIF.

A list is one as Uniswap defines it (https://tokenlists.org), or has one chain and address a line.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import IO, Final, Literal

import click
import msgspec

from analysis.token.admission import admit_address
from api.formats.prose.headline import headline_of
from api.formats.prose.rendered_report import render_for_people
from api.formats.summary.flags import Flag
from api.formats.summary.summary import Verdict
from api.formats.token_snapshot import TokenSnapshot
from assay.commands.runs.nodes import choose_chain
from assay.commands.runs.progress import progress_bars
from assay.commands.runs.run_scan import open_context, scan_token
from config.facts.chain import Chain
from config.facts.chain_names import index_by_name
from config.facts.load_chains import load_chains
from config.load_settings import load_settings
from config.settings import Settings
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import checksum
from core.process.terminal import printable

Failure = Literal["danger", "warning", "never"]

_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_TOKENS: Final = 1_000
"""Tokens of one review; a larger list is an error, as a review of a part could pass for the whole.
"""
_AT_ONCE: Final = 4
"""Analyses of one chain at the same time."""

_LONGEST_NAME: Final = 32
_RANKS: Final[Sequence[Verdict | None]] = (None, "danger", "not_tested", "warning", "safe")
"""Order of a report, the worst first. None: not analysed."""

_NOT_ANALYSED: Final = "not_analysed"
_LEVELS: Final[Mapping[str, str]] = {"danger": "error", "warning": "warning"}
"""SARIF level by status of a check."""


class ListedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token as a list names it."""

    chain: str
    """Number, slug or alias."""
    address: str
    line: int
    """Line of the list, from 1."""

    @property
    def key(self) -> tuple[str, str]:
        """Return what is the same for the same token in another list."""
        return self.chain.lower(), self.address.lower()


class ReviewedToken(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome for one token."""

    listed: ListedToken
    chain: str
    """Name for people."""
    symbol: str = ""
    verdict: Verdict | None = None
    """None: not analysed."""
    sentence: str
    """Headline, or the reason why it was not analysed."""
    flags: tuple[Flag, ...] = ()
    """Checks that found a danger or a warning."""


class _UniswapToken(msgspec.Struct, rename="camel"):
    chain_id: int
    address: str


class _UniswapList(msgspec.Struct):
    tokens: list[_UniswapToken]


def run_review(
    file: IO[bytes],
    base: IO[bytes] | None,
    chain_names: Sequence[str],
    *,
    fail_on: Failure,
    sarif: Path | None,
) -> int:
    """Review a list, print the report, and return the exit code.

    Raises BadParameter for a list that cannot be read or a chain that is not known, ConfigError.
    """
    settings = load_settings(os.environ)
    chains = load_chains(settings.overlay)
    known = {token.key for token in read_list(base)} if base is not None else set()
    listed = [token for token in read_list(file) if token.key not in known]
    if chain_names:
        wanted = {choose_chain(chains, name).id for name in chain_names}
        names = {name for name, chain in index_by_name(chains).items() if chain.id in wanted}
        listed = [token for token in listed if token.chain.lower() in names]
    reviewed = asyncio.run(_review(settings, chains, listed))
    reviewed.sort(key=lambda one: (_RANKS.index(one.verdict), one.listed.line))
    click.echo(to_markdown(reviewed), nl=False)
    if sarif is not None:
        sarif.write_bytes(to_sarif(reviewed, source=file.name))
    return int(any(_fails(one, fail_on) for one in reviewed))


def read_list(file: IO[bytes]) -> list[ListedToken]:
    """Read a list, each token once. Raises BadParameter."""
    data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _unreadable(file, "it is larger than 16 MB")
    try:
        text = data.decode()
        is_json = text.lstrip()[:1] in ("{", "[")
        found = [*(_of_json(text) if is_json else _of_lines(file, text))]
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors, too
        raise _unreadable(file, str(error)) from None
    unique: dict[tuple[str, str], ListedToken] = {}
    for token in found:
        unique.setdefault(token.key, token)
    if len(unique) > _MOST_TOKENS:
        reason = f"{len(unique)} tokens, of which {_MOST_TOKENS} can be reviewed"
        raise _unreadable(file, f"{reason}; choose some with --base or --chain")
    return [*unique.values()]


def _unreadable(file: IO[bytes], reason: str) -> click.BadParameter:
    return click.BadParameter(f"token list {file.name}: {reason}")


def _of_json(text: str) -> Iterator[ListedToken]:
    line, read_to = 1, 0
    for token in msgspec.json.decode(text, type=_UniswapList).tokens:
        # Tokens are searched in order, as a list may name an address on several chains.
        quoted = f'"{token.address}"'
        found = text.find(quoted, read_to)
        if found >= 0:
            line += text.count("\n", read_to, found)
            read_to = found + len(quoted)
        yield ListedToken(chain=str(token.chain_id), address=token.address, line=line)


def _of_lines(file: IO[bytes], text: str) -> Iterator[ListedToken]:
    for number, line in enumerate(text.splitlines(), start=1):
        match line.partition("#")[0].split():
            case []:
                continue
            case [chain, address]:
                yield ListedToken(chain=chain, address=address, line=number)
            case _:
                raise _unreadable(file, f"line {number} is not a chain and an address")


async def _review(
    settings: Settings, chains: Sequence[Chain], listed: Sequence[ListedToken]
) -> list[ReviewedToken]:
    by_name = index_by_name(chains)
    found = [
        ReviewedToken(
            listed=token, chain=token.chain, sentence=f"chain {token.chain} is not supported"
        )
        for token in listed
        if token.chain.lower() not in by_name
    ]
    with progress_bars() as show:
        for chain in chains:
            tokens = [token for token in listed if by_name.get(token.chain.lower()) is chain]
            if not tokens:
                continue
            async for one in _review_chain(settings, chain, tokens):
                found.append(one)
                show(chain.display_name, len(found), len(listed))
    return found


async def _review_chain(
    settings: Settings, chain: Chain, tokens: Sequence[ListedToken]
) -> AsyncIterator[ReviewedToken]:
    name = chain.display_name
    if chain.id not in settings.rpc_urls:
        reason = f"ASSAY_RPC_{chain.id} is not set, and {name} needs a node"
        for token in tokens:
            yield ReviewedToken(listed=token, chain=name, sentence=reason)
        return
    async with AsyncExitStack() as stack:
        context = await open_context(stack, settings, chain)
        room = asyncio.Semaphore(_AT_ONCE)

        async def review(token: ListedToken) -> ReviewedToken:
            async with room:
                try:
                    snapshot = await scan_token(context, admit_address(token.address))
                except (TokenRefusedError, UpstreamError) as error:
                    return ReviewedToken(listed=token, chain=name, sentence=str(error))
            return _reviewed(token, snapshot)

        for running in asyncio.as_completed([review(token) for token in tokens]):
            yield await running


def _reviewed(listed: ListedToken, snapshot: TokenSnapshot) -> ReviewedToken:
    rendered = render_for_people(snapshot)
    return ReviewedToken(
        listed=listed,
        chain=snapshot.chain.display_name,
        symbol=snapshot.report.token.symbol or "",
        verdict=rendered.summary.verdict,
        sentence=headline_of(rendered),
        flags=tuple(flag for flag in rendered.summary.flags if flag.status in _LEVELS),
    )


def _fails(one: ReviewedToken, fail_on: Failure) -> bool:
    """True if a token ends the review with an error. One that was not analysed always does."""
    if one.verdict is None:
        return True
    failing = {"never": (), "danger": ("danger",), "warning": ("danger", "not_tested", "warning")}
    return one.verdict in failing[fail_on]


# --- reports --------------------------------------------------------------------------------------


def to_markdown(reviewed: Sequence[ReviewedToken]) -> str:
    """Return the report. Texts of tokens are code spans, in which no markup counts."""
    counts = {
        words: sum(one.verdict == verdict for one in reviewed)
        for verdict, words in zip(
            _RANKS, ("not analysed", "danger", "not tested", "warning", "safe"), strict=True
        )
    }
    summed = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
    lines = ["# Token review", "", f"Tokens: {len(reviewed)}. {summed or 'None is new'}.", ""]
    if reviewed:
        lines += ["| Token | Chain | Verdict | Finding |", "|---|---|---|---|"]
    for one in reviewed:
        address = _code(one.listed.address, most=42)
        token = f"{_code(one.symbol, most=_LONGEST_NAME)} {address}" if one.symbol else address
        verdict = (one.verdict or _NOT_ANALYSED).replace("_", " ")
        lines.append(f"| {token} | {_plain(one.chain)} | {verdict} | {_plain(one.sentence)} |")
    for one in reviewed:
        if one.flags:
            name = _code(one.symbol or one.listed.address, most=_LONGEST_NAME)
            lines += ["", f"## {name} on {_plain(one.chain)}", ""]
            lines += [f"- **{flag.status}**: {_plain(flag.label)}" for flag in one.flags]
    return "\n".join((*lines, ""))


def _code(text: str, *, most: int) -> str:
    """Return a text as a code span of a table."""
    shown = re.sub(r"[`|\\]", "?", printable(text))[:most].strip()
    return f"`{shown or '?'}`"


def _plain(text: str) -> str:
    """Return a text in which no character is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#!|~@&])", r"\\\1", printable(text))


def to_sarif(reviewed: Sequence[ReviewedToken], *, source: str) -> bytes:
    """Return the findings as SARIF 2.1.0 (OASIS), at the lines of the list.

    `source`: path of the list.
    """
    results = [found for one in reviewed for found in _results(one, source)]
    labels = {flag.key: flag.label for one in reviewed for flag in one.flags}
    labels |= {_NOT_ANALYSED: "The token was not analysed"}
    used = dict.fromkeys(str(found["ruleId"]) for found in results)
    driver = {
        "name": "Assay",
        "version": version("assay"),
        "rules": [{"id": key, "shortDescription": {"text": labels[key]}} for key in used],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return msgspec.json.format(msgspec.json.encode(log)) + b"\n"


def _results(one: ReviewedToken, source: str) -> Iterable[dict[str, object]]:
    address = one.listed.address
    if one.verdict is None:
        found = [(_NOT_ANALYSED, "error", one.sentence)]
    else:
        found = [(flag.key, _LEVELS[flag.status], flag.label) for flag in one.flags]
        address = checksum(admit_address(address))
    place = {
        "artifactLocation": {"uri": Path(source).as_posix()},
        "region": {"startLine": one.listed.line},
    }
    for key, level, text in found:
        name = f"{printable(one.symbol)[:_LONGEST_NAME]} ({address})" if one.symbol else address
        yield {
            "ruleId": key,
            "level": level,
            "message": {"text": f"{name} on {one.chain}: {text}"},
            "locations": [{"physicalLocation": place}],
            "partialFingerprints": {"token/v1": f"{one.listed.chain}:{address.lower()}:{key}"},
        }
