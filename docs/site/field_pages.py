"""Pages of fields and flags: the feature table, test cases of the detectors, a sample report."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from api.formats.native.field_table import FIELDS
from api.formats.native.native import render_native
from api.formats.summary.flags import CATALOGUE, COMBINED, SummaryCheck
from core.report.fields.field import SECTIONS, Field, Section
from docs.site.field_facts import SECTION_TITLES, facts_of
from docs.site.page import Page
from tests.harness.api.sample_reports import LIQUID_USD, make_report
from tests.harness.cases.cases import source_text

_CASES: Final = Path(__file__).parents[2] / "tests" / "cases"

_METHODS: Final[Mapping[Section, str]] = {
    "static": (
        "Inferred from the runtime bytecode by symbolic execution, without a source or a node. "
        "See [Static analysis](../understand/static-analysis.md)."
    ),
    "simulation": (
        "Simulated on the node at one pinned block, without sending a transaction. "
        "`/evidence` has the calls."
    ),
    "pools": (
        "Read from the pools of the chain's exchanges at one pinned block; buys and sales are "
        "simulated in the deepest of them."
    ),
    "supply": "Read from the token at one pinned block.",
    "other": "Read from the token, its creation and its transfers at one pinned block.",
}

_SOUNDNESS: Final[Mapping[Section, str]] = {
    "static": (
        "True comes with proof: the functions, storage slots and places in the code are in "
        "`/evidence`. False means that all code that could make it true was followed to its end; "
        "otherwise the value is null. The assumptions are listed under [What is sound, and what is "
        "not](../understand/static-analysis.md#what-is-sound-and-what-is-not)."
    ),
    "simulation": (
        "A simulated outcome holds for that block and the accounts that took part. An outcome that "
        "was not seen may still be possible: see "
        "[Blind spots](../understand/blind-spots.md)."
    ),
    "pools": (
        "Pools of exchanges outside the chain file are not seen. A trade that passed did so at "
        "that block, for that amount and those accounts: see "
        "[Blind spots](../understand/blind-spots.md)."
    ),
    "supply": "Reported by the token itself; a dishonest one may return anything.",
    "other": (
        "Balances are verified at the block; holders are known from transfers, as far as they are "
        "indexed. See [Blind spots](../understand/blind-spots.md)."
    ),
}


def field_pages() -> Iterator[Page]:
    """Yield a page for every field, in the order of the native format."""
    for section in SECTIONS:
        for key, field in FIELDS.items():
            if field.section == section:
                text = "\n".join(_field_lines(key, field))
                yield Page(
                    path=f"field/{key}.md", title=key, text=text, group=SECTION_TITLES[section]
                )


def flag_pages() -> Iterator[Page]:
    """Yield a page for every check of the summary, by severity."""
    of_field = {
        field.check.key or key: (key, field) for key, field in FIELDS.items() if field.check
    }
    for check in CATALOGUE:
        text = "\n".join(_flag_lines(check, of_field.get(check.key)))
        yield Page(
            path=f"flag/{check.key}.md", title=check.key, text=text, group=check.severity.title()
        )


def _field_lines(key: str, field: Field) -> Iterator[str]:
    yield from (f"# {key}", "", field.meaning, "", *facts_of(key, field), "")
    if field.check:
        name = field.check.key or key
        yield from (f"In the summary it is the flag [`{name}`](../flag/{name}.md).", "")
    yield from ("## Method", "", _METHODS[field.section], "")
    yield from ("## Soundness", "", _SOUNDNESS[field.section], "")
    yield from _example(key, field)


def _example(key: str, field: Field) -> Iterator[str]:
    sources = {
        "Code with a finding": _shortest(key, "found"),
        "Similar code without a finding": _shortest(key, "absent"),
    }
    sample = _sample_value(key) if field.is_native else None
    if sample is None and not any(sources.values()):
        return
    yield from ("## Example", "")
    if sample is not None:
        yield from ("Value for an honest token:", "", "```json", sample, "```", "")
    for title, path in sources.items():
        if path is not None:
            source = source_text(path).rstrip()
            yield from (f"{title}, a test case of the detector:", "", "```solidity", source, "```")
            yield ""


def _flag_lines(check: SummaryCheck, declared: tuple[str, Field] | None) -> Iterator[str]:
    yield from (f"# {check.key}", "", f"{check.label}.", "")
    yield f"- Status when it fires: `{check.severity}`. Without an answer: `unknown`."
    yield f"- It fires if its value is {str(check.finding).lower()}."
    if check.is_reason:
        yield "- It is also a reason of the verdict."
    yield ""
    if declared is not None:
        key, field = declared
        opposite = "the opposite of " if check.finding and _is_negated(field) else ""
        yield from (f"Its value is {opposite}the field [`{key}`](../field/{key}.md).", "")
        yield from ("## Meaning of the field", "", field.meaning, "")
        yield from ("## Method", "", _METHODS[field.section], "")
        yield from ("## Soundness", "", _SOUNDNESS[field.section], "")
    else:
        yield from ("## Method", "", _COMBINED[check.key], "")


def _is_negated(field: Field) -> bool:
    return field.check is not None and field.check.is_negated


_TAX: Final = (
    "The highest tax on a buy or a sale in any simulated pool, or on a plain transfer. It is not "
    "known to be lower unless there is a figure for buys and one for sales."
)

_COMBINED: Final[Mapping[str, str]] = {
    "high_tax": _TAX,
    "elevated_tax": _TAX,
    "dominant_pool_unsellable": (
        "The simulated sale into the deepest pool failed, even if one into a shallower pool passed."
    ),
    "transfer_restrictions": (
        "[`has_trading_cap_functionality`](../field/has_trading_cap_functionality.md) or "
        "[`has_position_cap_functionality`](../field/has_position_cap_functionality.md) is true."
    ),
    "holder_concentration": (
        "One of [`top_holders`](../field/top_holders.md), neither a burn address, a pool nor a "
        "known locker (`[[locker]]` of the chain's file), has over a fifth of the supply. Unknown "
        "while a holder that is not listed may have as much."
    ),
    "creator_holds_supply": (
        "[`creator_percent`](../field/creator_percent.md) is over 5. Unknown where no creator is "
        "known."
    ),
    "has_enough_liquidity": (
        "A pool among [`dex`](../field/dex.md) holds more than `analysis.min_liquidity_usd`. The "
        "flag fires where none does."
    ),
    "disguised_code": (
        "The transaction that created the token gave a balance without a Transfer event, or an "
        "allowance without an Approval event. Unknown where that transaction was not found, or the "
        "node cannot repeat it. See [Creation](../understand/creation.md)."
    ),
    "unproved_code": (
        "A store may lower a balance or set an allowance without proof of the holder's consent, a "
        "function may raise the sum of balances unseen, or the creation wrote storage words "
        "that no known key explains. It is unknown where the code was not followed to its end. See "
        "[Static analysis](../understand/static-analysis.md)."
    ),
    "liquidity_can_leave": (
        "Of the three deepest pools, who holds the LP tokens or positions. Of a pool younger than "
        "thirty days, or of unknown age, all that is neither burnt nor locked for thirty days more "
        "counts; of an older one, where `analysis.liquidity_holders` is `always`, what a single "
        "holder can withdraw. It fires at half of the value of all pools, or of their quote "
        "tokens. Where what is not known may make it half, it is `info` if that is in pools shown "
        "to be over thirty days old, and unknown otherwise. See "
        "[Liquidity by holder](../use/liquidity.md)."
    ),
    "privileged_spenders": (
        "[`privileged_spenders`](../field/privileged_spenders.md) is not empty. Unknown where "
        "[`allowance_bypass`](../field/allowance_bypass.md) is."
    ),
}
"""Method of the checks of more than one field."""

if missing := {check.key for check in COMBINED} ^ _COMBINED.keys():
    message = f"describe the method of these checks, and of no others: {sorted(missing)}"
    raise LookupError(message)


@cache
def _sample() -> dict[str, Any]:
    """Render an honest token in the native format."""
    sent = render_native(make_report(), clock=None, liquid_above_usd=LIQUID_USD)
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(sent))
    return found


def _sample_value(key: str) -> str | None:
    """Format the key with its value. None if the sample lacks it."""
    if key not in _sample():
        return None
    return msgspec.json.format(msgspec.json.encode({key: _sample()[key]}), indent=2).decode()


def _shortest(key: str, kind: str) -> Path | None:
    sources = (_CASES / key / kind).glob("*.sol")
    return min(sources, key=lambda path: (len(source_text(path).encode()), path.name), default=None)
