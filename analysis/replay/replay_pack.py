"""Replay of an evidence pack: its calls on another node, and the report that follows from them."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, Literal

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.node import Node
from analysis.replay.allowed_requests import reason_against
from analysis.replay.answer_parts import FAILED, answer_parts
from analysis.replay.evidence_pack import EvidencePack, EvidencePackError
from analysis.replay.fixed_analysis import (
    RecordedAnswers,
    analyse_fixed,
    chain_facts,
    request_key,
)
from core.errors import AssayError
from core.report.report import Report
from core.rpc.messages import RpcAnswer, RpcRequest

_AT_ONCE: Final = 100
"""Requests of one round trip."""

_DERIVED_WITHIN_S: Final = 120.0

_HASH: Final = re.compile("0x[0-9a-f]{64}")
_ADDRESS: Final = re.compile("0x[0-9a-f]{40}")
_NEVER: Final = 2**63


class CallReplay(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a pack, run again."""

    index: int
    """Index in the pack, from 0."""
    method: str
    status: Literal["equal", "different", "not_run"]
    """not_run: this node did not carry it out, but the pack's node did."""
    recorded: str = ""
    """The first part that differs; empty where none does."""
    answered: str = ""


class FieldDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the report that does not follow from the calls."""

    field: str
    """Path in the report, such as `token.is_settled` or `pools.0.sell`."""
    recorded: object
    derived: object


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the replay of a pack."""

    calls: tuple[CallReplay, ...]
    derived: Report | None
    """The report that follows from this node's answers. None: see `reason`."""
    reason: str
    """Reason why none was derived. Empty: one was."""
    differences: tuple[FieldDifference, ...]

    @property
    def differing(self) -> tuple[CallReplay, ...]:
        """Calls with another result."""
        return tuple(each for each in self.calls if each.status != "equal")

    @property
    def verdict(self) -> Literal["equal", "different", "not_run"]:
        """Overall result. A difference outweighs calls that could not be run."""
        if self.differences or any(each.status == "different" for each in self.calls):
            return "different"
        return "not_run" if self.differing or self.derived is None else "equal"


def check_pack(pack: EvidencePack) -> None:
    """Raise EvidencePackError for a pack with requests beyond its own block."""
    _check_subject(pack)
    seen = set[bytes]()
    for index, call in enumerate(pack.calls):
        request = RpcRequest(call.method, call.params)
        reason = reason_against(request, pack.block)
        if reason is not None:
            raise EvidencePackError(reason=f"call {index}: {reason}")
        if (key := request_key(request)) in seen:
            raise EvidencePackError(reason=f"call {index}: recorded twice")
        seen.add(key)


def _check_subject(pack: EvidencePack) -> None:
    token, block = pack.report.token, pack.block
    if (token.chain_id, token.block_number, token.block_hash) != (
        pack.chain_id,
        block.number,
        block.hash,
    ):
        raise EvidencePackError(reason="its report is of another block or chain")
    is_sound = _HASH.fullmatch(block.hash) and _ADDRESS.fullmatch(token.address)
    if not is_sound or not all(0 <= each < _NEVER for each in (block.number, block.time_s)):
        raise EvidencePackError(reason="its block or token is none")


async def replay_pack(pack: EvidencePack, node: Node, context: ChainContext | None) -> Replay:
    """Run every call again, and derive the report from this node's answers.

    `context`: the chain's configuration, for the report; None: the chain is not configured, so that
    only the calls are compared. Raises EvidencePackError before anything is sent, UpstreamError.
    """
    check_pack(pack)
    requests = [RpcRequest(call.method, call.params) for call in pack.calls]
    answers: list[RpcAnswer] = []
    for start in range(0, len(requests), _AT_ONCE):
        answers += await node.batch(requests[start : start + _AT_ONCE])
    calls = tuple(_compared(pack, answers))
    derived, reason = await _derive(pack, requests, answers, context)
    return Replay(
        calls=calls,
        derived=derived,
        reason=reason,
        differences=() if derived is None else tuple(_differences(pack.report, derived)),
    )


def _compared(pack: EvidencePack, answers: Sequence[RpcAnswer]) -> Iterator[CallReplay]:
    for index, (call, answer) in enumerate(zip(pack.calls, answers, strict=True)):
        parts = answer_parts(call.method, answer)
        if parts == call.answer:
            yield CallReplay(index=index, method=call.method, status="equal")
            continue
        pairs = zip_longest(call.answer, parts)
        at = next(at for at, (one, other) in enumerate(pairs) if one != other)
        yield CallReplay(
            index=index,
            method=call.method,
            status="not_run" if parts == (FAILED,) else "different",
            recorded=_part(call.answer, at),
            answered=_part(parts, at),
        )


def _part(parts: Sequence[str], at: int) -> str:
    return parts[at] if at < len(parts) else "nothing"


async def _derive(
    pack: EvidencePack,
    requests: Sequence[RpcRequest],
    answers: Sequence[RpcAnswer],
    context: ChainContext | None,
) -> tuple[Report | None, str]:
    """Return the report, or None and why there is none."""
    if context is None or context.chain.id != pack.chain_id:
        return None, f"chain {pack.chain_id} is not configured here"
    if chain_facts(context.chain) != pack.given.chain_facts:
        return None, "the pack was made with other facts of the chain (release, overlay)"
    known = dict(zip(map(request_key, requests), answers, strict=True))
    source = RecordedAnswers(known)
    token = pack.report.token.address
    reason = f"it was made by {pack.made_by}"
    report = None
    try:
        async with asyncio.timeout(_DERIVED_WITHIN_S):
            report = await analyse_fixed(context, source, token, block=pack.block, given=pack.given)
    except TimeoutError:
        reason = f"not done in {_DERIVED_WITHIN_S:g} s"
    except AssayError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - what others wrote must not hide how the calls went
        reason = f"the analysis failed on what the pack gives it: {error!r}"
    if source.unknown:
        return None, (
            f"the analysis asks for {source.unknown} calls that the pack does not hold; {reason}"
        )
    return report, reason if report is None else ""


def _differences(recorded: Report, derived: Report) -> Iterator[FieldDifference]:
    left, right = _flat(recorded), _flat(derived)
    for field in sorted(left.keys() | right.keys()):
        if left.get(field) != right.get(field):
            yield FieldDifference(field=field, recorded=left.get(field), derived=right.get(field))


def _flat(report: Report) -> dict[str, object]:
    """Return the values of a report by their path."""
    return dict(_leaves("", msgspec.to_builtins(report)))


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    match value:
        case dict():
            for key, each in value.items():
                yield from _leaves(f"{path}.{key}" if path else str(key), each)
        case list() | tuple():
            yield f"{path}.count", len(value)
            for at, each in enumerate(value):
                yield from _leaves(f"{path}.{at}", each)
        case _:
            yield path, value
