"""Simulation evidence: the request and results that an answer is based on, so that anyone can
repeat it."""

from collections.abc import Collection

import msgspec

from analysis.reads.revert_reason import decode_revert
from analysis.simulation.simulate_v1 import CallHandle, Outcome, Simulation, SimulationResult
from core.report.report import EvidenceRow

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
    simulation: Simulation,
    result: SimulationResult,
    outcome: Outcome | object,
    *,
    shown: Collection[CallHandle] | None = None,
) -> EvidenceRow:
    """Return one row of evidence for the finding `key`.

    `shown`: the calls whose results are included. None: all of them.
    """
    calls = tuple(
        CallEvidence(
            label=call.label,
            sender=call.sender,
            to=call.to,
            data=call.data,
            value=hex(call.value),
            ok=(seen := result[handle]).ok,
            returned="0x" + seen.data[:_SHOWN_BYTES].hex(),
            reason="" if seen.ok else decode_revert(seen.data, seen.message),
        )
        for handle, call in simulation.calls()
        if shown is None or handle in shown
    )
    body = SimulationEvidence(
        block_number=simulation.pin.number,
        block_hash=simulation.pin.hash,
        scenario_version=version,
        request=simulation.request.params,
        played_by=result.method,
        calls=calls,
        outcome=outcome,
    )
    return EvidenceRow(key=key, body=msgspec.json.encode(body).decode())
