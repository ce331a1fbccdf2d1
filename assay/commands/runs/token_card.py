"""The card of a token for a terminal: problems first, each finding with its proofs."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from api.formats.summary.summary import Verdict
from api.pages.views.finding_view import FindingLine
from api.pages.views.pool_view import Side
from api.pages.views.proof_view import CallShown, FunctionShown, ProofShown, SlotShown
from api.pages.views.token_view import TokenView
from core.process.terminal import printable

_VERDICT_STYLES: Final[dict[Verdict, str]] = {
    "danger": "bold red",
    "warning": "bold yellow",
    "safe": "bold green",
    "not_tested": "bold magenta",
}
_STYLES: Final = {
    "danger": "red",
    "warning": "yellow",
    "unknown": "magenta",
    "info": "cyan",
    "notice": "cyan",
    "fine": "green",
}
CARD_WIDTH: Final = 100
"""Columns beyond which lines of words are hard to read."""

_MOST_PROOFS: Final = 2
"""Most proofs of one finding; the evidence format contains all."""
_MOST_PLACES: Final = 4
_MOST_POOLS: Final = 5
_INDENT: Final = 10
"""Columns before the text of a finding, for its status."""


def make_card(view: TokenView) -> RenderableType:
    """Build the card of one token. Texts of the token are escaped."""
    findings = view.findings
    parts: list[RenderableType] = [_head(view)]
    for title, shown in (
        ("Risks", [*_lines(findings.wrong)]),
        ("Unknown", [*_unanswered(findings.unknown)]),
        ("Good to know", [*_lines(findings.known)]),
        ("Passed", [*_fine(view)]),
        ("Pools", [_pools(view)]),
    ):
        parts += [Text(f"\n{title}", style="bold"), *shown] if shown else []
    return Group(*parts, Text(), _facts(view))


def _head(view: TokenView) -> Panel:
    style = _VERDICT_STYLES[view.head.verdict]
    state = ", still under way" if view.is_pending else ""
    return Panel(
        Group(
            _text(view.head.headline, "bold"),
            _text(f"{view.head.chain.display_name}  {view.head.address}"),
            _text(f"block {view.block_number}, {view.scanned_at}{state}", "dim"),
        ),
        title=_text(f"{view.head.symbol} ({view.head.name})"),
        title_align="left",
        subtitle=_text(view.head.verdict_words, style),
        subtitle_align="right",
        border_style=style,
    )


def _lines(lines: Sequence[FindingLine]) -> Iterator[RenderableType]:
    """Yield the findings; problems with their proofs."""
    for line in lines:
        yield _line(line.status, line.text, _STYLES[line.status])
        if line.status in ("danger", "warning"):
            for proof in line.proofs[:_MOST_PROOFS]:
                yield _line("", "\n".join(_proof(proof)), "dim", words="dim")


def _unanswered(lines: Sequence[FindingLine]) -> Iterator[RenderableType]:
    """Yield the checks without an answer; each reason once, below its checks."""
    for reason in dict.fromkeys(line.why for line in lines):
        for line in lines:
            if line.why == reason:
                yield _line("unknown", line.text, _STYLES["unknown"])
        if reason:
            yield _line("", reason, "dim", words="dim")


def _fine(view: TokenView) -> Iterator[RenderableType]:
    """Yield the passed checks; only their number if there are problems."""
    fine = view.findings.fine
    if view.findings.wrong and fine:
        summary = f"{sum(line.checks for line in fine)} checks; --format summary lists them"
        yield _line("fine", summary, _STYLES["fine"])
        return
    for line in fine:
        yield _line("fine", line.text, _STYLES["fine"])


def _line(status: str, text: str, style: str, *, words: str = "") -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=_INDENT - 1, no_wrap=True)
    grid.add_column()
    grid.add_row(_text(status, style), _text(text, words))
    return grid


def _proof(proof: ProofShown) -> Iterator[str]:
    block = "" if proof.block_number is None else f", block {proof.block_number}"
    found = [
        ", ".join(map(_function, proof.functions[:_MOST_PLACES])),
        _numbered("program counter", [str(pc) for pc in proof.places[:_MOST_PLACES]]),
        _numbered("slot", [_slot(slot) for slot in proof.slots[:_MOST_PLACES]]),
    ]
    details = "; ".join(part for part in found if part)
    yield f"{proof.title}{block}{': ' if details else ''}{details}"
    yield from (f"  {condition}" for condition in proof.conditions[:_MOST_PLACES])
    yield from (f"  {_call(call)}" for call in proof.calls)


def _function(function: FunctionShown) -> str:
    """Return the likely name without arguments, else the selector."""
    return f"{function.name.partition('(')[0]}()" if function.name else function.selector


def _numbered(what: str, values: Sequence[str]) -> str:
    return f"{what}{'s' if len(values) > 1 else ''} {', '.join(values)}" if values else ""


def _slot(slot: SlotShown) -> str:
    value = "" if slot.value is None else f" = {int(slot.value, 16):#x}"
    return f"{int(slot.slot, 16):#x}{value}"


def _call(call: CallShown) -> str:
    result = "passed" if call.ok else f"refused {call.reason}".rstrip()
    return f"{call.step}: {_function(call.function)} {result}"


def _pools(view: TokenView) -> RenderableType:
    if not view.pools:
        return _line("", "none known", "")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("exchange", "against", "holds", "buying", "selling"):
        table.add_column(heading, header_style="dim")
    for pool in view.pools[:_MOST_POOLS]:
        sides = (_side(pool.buy), _side(pool.sell))
        table.add_row(_text(pool.dex), _text(pool.quote), _text(pool.liquidity), *sides)
    more = len(view.pools) - _MOST_POOLS + view.pools_beside
    rest = [_text(f"and {more} more", "dim")] if more > 0 else []
    return Group(table, *rest)


def _side(side: Side) -> Text:
    return _text(side.text, _STYLES[side.tone])


def _facts(view: TokenView) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for fact in view.facts:
        if fact.text == view.head.chain.display_name:
            continue  # shown above
        shown = " ".join(part for part in (fact.address, fact.text) if part)
        grid.add_row(_text(fact.label, "dim"), _text(shown))
    return grid


def more_of(view: TokenView) -> Text:
    """Return the command for all proofs, in one line for copying."""
    name = view.head.chain.aliases[0] if view.head.chain.aliases else view.head.chain.slug
    return _text(f"\nAll proofs: assay scan {name} {view.head.address} --format evidence", "dim")


def _text(text: str, style: str = "") -> Text:
    """Render text without markup and terminal commands; only its line ends are kept."""
    return Text("\n".join(map(printable, text.split("\n"))), style=style)
