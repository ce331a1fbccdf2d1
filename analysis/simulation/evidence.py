"""Simulation evidence: the request and results that an answer is based on, so that anyone can
repeat it."""

from collections.abc import Collection

import msgspec

from analysis.reads.revert_reason import decode_revert
from analysis.simulation.simulate_v1 import Outcome, Simulation, SimulationResult
from core.report import EvidenceRow

_SHOWN_BYTES = 256


class CallEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated call and its result."""

    label: str
    sender: str
    to: str
    data: str
    value: str
    ok: bool
    returned: str
    """0x hex, at most the first 256 bytes."""
    reason: str
    """Revert reason; empty when it succeeded."""


class SimulationEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation: send `request` to a node and compare."""

    block_number: int
    block_hash: str
    scenario_version: int
    request: object
    """Parameters of eth_simulateV1 for the whole simulation, whatever method it was run with."""
    played_by: str
    """The RPC method that it was run with."""
    calls: tuple[CallEvidence, ...]
    outcome: object


def simulation_evidence(
    key: str,
    version: int,
    play: Simulation,
    played: SimulationResult,
    outcome: Outcome | object,
    *,
    shown: Collection[str] | None = None,
) -> EvidenceRow:
    """Return one row of evidence for the finding `key`.

    `shown`: labels of the calls whose results are included. None: all of them.
    """
    calls = tuple(
        CallEvidence(
            label=call.label,
            sender=call.sender,
            to=call.to,
            data=call.data,
            value=hex(call.value),
            ok=(result := played[call.label]).ok,
            returned="0x" + result.data[:_SHOWN_BYTES].hex(),
            reason="" if result.ok else decode_revert(result.data, result.message),
        )
        for block in play.blocks
        for call in block.calls
        if shown is None or call.label in shown
    )
    body = SimulationEvidence(
        block_number=play.pin.number,
        block_hash=play.pin.hash,
        scenario_version=version,
        request=play.request().params,
        played_by=played.by,
        calls=calls,
        outcome=outcome,
    )
    return EvidenceRow(key=key, body=msgspec.json.encode(body).decode())
