"""Example bodies of the document: reports of the demo's tokens, rendered like any answer.

`example_reports.json` has reports that `make examples` took from a demo, without simulated calls;
the first one, of a token that only its owner can sell, is the example of every format. The others
have values where it has null. `example_bodies.json` has all other bodies.
"""

from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from analysis.market.token_price import TokenPrice
from api.deps import Prefill
from api.formats.rendering import (
    FORMATS,
    Format,
    native_of,
    render_failure,
    render_refusal,
    render_report,
    summary_of,
)
from api.formats.summary.summary import findings_of
from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from config.facts.chain import Chain
from core.errors import RefusalCode, TokenRefusedError
from core.evm.primitives import checksum
from core.report.finding_outcomes import FindingOutcomes
from core.report.report import Report

JsonObject = dict[str, Any]
"""A decoded object: of the document, or a body."""

_AGE_S = 5
_LIQUID_ABOVE_USD = 100.0

_REFUSALS: Final[dict[RefusalCode, str]] = {
    "invalid_address": "Not an EVM address.",
    "burn_address": "A burn address is no token.",
    "not_a_contract": "There is no code at this address.",
    "not_a_token": "The contract does not answer symbol(): no symbol",
    "invalid_token_data": "The token's data is not valid.",
}


class Examples:
    """Example bodies, on one chain."""

    def __init__(self, chain: Chain, *, prefill: Prefill | None = None):
        self._chain = chain
        self._snapshots = [_snapshot(report, chain) for report in _reports()]
        self._address = checksum(self._snapshots[0].report.token.address)
        self.chain = prefill.chain if prefill else chain.slug
        self.address = prefill.address if prefill else self._address
        """Address of the token in the examples; in a demo one that exists."""

    def answers(self) -> dict[str, JsonObject]:
        """Return the example of each successful body, by the name of its schema."""
        of_token = self._snapshots[0]
        first = {form: _decoded(render_report(of_token, form)) for form in FORMATS}
        token = of_token.report.token.address
        bodies: dict[str, JsonObject] = msgspec.json.decode(_read("example_bodies.json"))
        return {
            **bodies,
            **{schema: first[form] for form, schema in _SCHEMAS.items()},
            "GoPlusAnswer": {
                "code": 1,
                "message": "OK",
                "result": {token: first["goplus"]},
            },
            "Batch": {**bodies["Batch"], "chain": self._chain.slug, "results": [first["summary"]]},
            "BatchRequest": {"addresses": [self.address], "response_format": "summary"},
        }

    def refusals(self, status: int, schema: str) -> dict[str, JsonObject]:
        """Return the bodies of tokens that have no answer, by error code."""
        form: Format = "summary" if schema == "Summary" else "native"
        if schema not in ("Summary", "RefusedToken"):
            return {}
        if status == 500:  # noqa: PLR2004 - HTTP's
            return {"analysis_failed": _decoded(render_failure(self._chain, self._address, form))}
        return {
            code: _decoded(render_refusal(self._chain, self._address, form, _refused(code, reason)))
            for code, reason in _REFUSALS.items()
            if status == 422  # noqa: PLR2004 - HTTP's
        }

    def more(self) -> list[tuple[str, JsonObject]]:
        """Return further bodies, with examples for keys that are null in the first report."""
        schemas: dict[Format, str] = {**_SCHEMAS, "goplus": "GoPlusToken"}
        return [
            (schema, _decoded(render_report(snapshot, form)))
            for snapshot in (*self._snapshots[1:], _with_all(self._snapshots[0]))
            for form, schema in schemas.items()
        ]


_SCHEMAS: Final[dict[Format, str]] = {
    "native": "NativeAnswer",
    "compat": "CompatAnswer",
    "summary": "Summary",
    "evidence": "EvidenceBody",
}


def _snapshot(report: Report, chain: Chain) -> TokenSnapshot:
    return take_snapshot(
        report,
        chain,
        now_s=report.token.scanned_at_s + _AGE_S,
        liquid_above_usd=_LIQUID_ABOVE_USD,
    )


def _with_all(snapshot: TokenSnapshot) -> TokenSnapshot:
    """Return the snapshot with a price, with outcomes, and with simulated calls of the owner."""
    report = snapshot.report
    token = msgspec.structs.replace(report.token, owner_can_change_balance=False)
    full = msgspec.structs.replace(
        snapshot,
        report=msgspec.structs.replace(report, token=token),
        price=TokenPrice(usd=0.0161, source="network_token_info", age_s=77),
    )
    findings = findings_of(summary_of(full, native_of(full)))
    outcomes = FindingOutcomes(findings=findings, known=812, trapped=780)
    return msgspec.structs.replace(full, outcomes={findings: outcomes})


@cache
def _reports() -> tuple[Report, ...]:
    return msgspec.json.decode(_read("example_reports.json"), type=tuple[Report, ...])


def _read(name: str) -> bytes:
    return (files("api.openapi") / name).read_bytes()


def _decoded(body: bytes) -> JsonObject:
    decoded: JsonObject = msgspec.json.decode(body)
    return decoded


def _refused(code: RefusalCode, reason: str) -> TokenRefusedError:
    return TokenRefusedError(code=code, reason=reason)
