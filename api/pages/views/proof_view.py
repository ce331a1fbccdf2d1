"""Proofs of a finding for pages: functions, storage, simulated calls, conditions."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from api.formats.prose.function_names import FALLBACK, function_name
from api.formats.prose.proofs import CallProof, CodeProof, SimulatedProof
from api.formats.prose.prose import quoted
from api.formats.prose.rendered_report import RenderedReport
from core.evm.primitives import Address, Hash32, Selector, checksum

_MOST_CALLS: Final = 6
_MOST_PLACES: Final = 12
_SELECTOR_CHARS: Final = 10
_ADDRESS_MASK: Final = f"(0x{'f' * 40} & "
"""Mask that compilers put around every address they read; hidden from readers."""


class FunctionShown(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the token."""

    selector: Selector
    name: str | None
    """Its likely signature. None: it is not in the table."""


class SlotShown(msgspec.Struct, frozen=True, kw_only=True):
    """A storage slot."""

    slot: Hash32
    value: Hash32 | None
    """Value at the report's block. None: it was not read, or the slot is only the base of a
    mapping."""


class CallShown(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated transaction."""

    step: str
    sender: str
    to: str
    function: FunctionShown
    ok: bool
    reason: str
    """Quoted revert reason; empty if it passed."""


class ProofShown(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence."""

    title: str
    functions: tuple[FunctionShown, ...] = ()
    places: tuple[int, ...] = ()
    """Program counters in the runtime code."""
    slots: tuple[SlotShown, ...] = ()
    conditions: tuple[str, ...] = ()
    """Conditions as in the code."""
    calls: tuple[CallShown, ...] = ()
    block_number: int | None = None
    """Block that the calls were simulated on."""


_CODE_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "ownership_not_renounced": ("ownership_renounced",),
    "access_restrictions": ("has_blacklist_or_whitelist",),
    "transfer_restrictions": (
        *("has_trading_cap", "has_position_cap"),
        *("has_trading_cap_functionality", "has_position_cap_functionality"),
    ),
    "pause_status_can_be_modified": ("has_pause_functionality", "pause_status_can_be_modified"),
    "tax_can_be_modified": ("has_tax_functionality", "tax_can_be_modified"),
    "dominant_pool_unsellable": ("transfer_guarded_by_storage",),
    "hidden_owner_controls": (),
}
"""Check -> evidence of the code, where its key differs. Empty: `_open` shows it."""

_SALES: Final = ("sell", "sell_by_owner")
_SIMULATED_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "dominant_pool_unsellable": _SALES,
    "high_tax": ("buy", "sell"),
    "elevated_tax": ("buy", "sell"),
    "sell_blocked_later": ("sell_later",),
    "sell_tax_rises": ("sell_later",),
    "sell_blocked_after_others": ("sell_after_others",),
    "sell_depends_on_size": ("sell", "sell_in_parts"),
    "sell_depends_on_conditions": ("untested_conditions",),
    "trading_cooldown": ("sell_later",),
}
"""Check -> simulations that run per pool."""

_OF_TOKEN: Final[dict[str, str]] = {
    "transfer_failed": "transfer",
    "allowance_bypass": "allowance_bypass",
    "funds_can_be_drained": "funds_can_be_drained",
    "owner_can_change_balance": "owner_can_change_balance",
}
"""Check -> simulation of the token itself."""

_TITLES: Final = {
    "buy": "Simulated purchases",
    "sell": "Simulated sales",
    "sell_by_owner": "Simulated sale by the owner",
    "sell_later": "Simulated sales up to 30 days ahead",
    "sell_after_others": "Simulated sales after other people traded",
    "sell_in_parts": "Simulated sale in parts",
    "transfer": "Simulated transfer",
    "untested_conditions": "Simulated conditions",
    "allowance_bypass": "Simulated thefts by transferFrom",
    "funds_can_be_drained": "Simulated thefts",
    "owner_can_change_balance": "Simulated changes by the owner",
}


def proofs_of(key: str, rendered: RenderedReport) -> tuple[ProofShown, ...]:
    """Build the evidence of a check. Empty: the report has none."""
    return (
        *_of_simulations(key, rendered),
        *_of_code(key, rendered),
        *_open(key, rendered),
        *_of_creation(key, rendered),
    )


def _of_code(key: str, rendered: RenderedReport) -> Iterator[ProofShown]:
    seen: set[tuple[int, ...]] = set()
    for name in _CODE_KEYS.get(key, (key,)):
        proof = rendered.proofs.of_code(name)
        if proof is None or not proof.pcs or proof.pcs in seen:
            continue
        seen.add(proof.pcs)
        yield _code(name, proof, rendered)


def _code(name: str, proof: CodeProof, rendered: RenderedReport) -> ProofShown:
    words = rendered.proofs.storage().words
    title = "In the code" if "modified" not in name else "In the code, where it is changed"
    return ProofShown(
        title=title,
        functions=tuple(map(_function, proof.selectors[:_MOST_PLACES])),
        places=proof.pcs[:_MOST_PLACES],
        slots=tuple(
            SlotShown(slot=slot, value=words.get(slot)) for slot in proof.slots[:_MOST_PLACES]
        ),
        conditions=tuple(text.replace(_ADDRESS_MASK, "(") for text in proof.conditions),
    )


def _function(selector: Selector) -> FunctionShown:
    return FunctionShown(selector=selector, name=function_name(selector))


def _of_simulations(key: str, rendered: RenderedReport) -> Iterator[ProofShown]:
    proofs = rendered.proofs
    checks = [(name, proofs.keys_under(name)) for name in _SIMULATED_KEYS.get(key, ())]
    if key in _OF_TOKEN:
        checks.append((_OF_TOKEN[key], [_OF_TOKEN[key]]))
    for name, keys in checks:
        for each in keys[:1]:
            simulated = list(proofs.simulated(each))
            calls = _calls(simulated)
            if calls:
                yield ProofShown(
                    title=_TITLES[name], calls=calls, block_number=simulated[0].block_number
                )


def _calls(simulated: Sequence[SimulatedProof]) -> tuple[CallShown, ...]:
    """Build the transactions of a user, each kind with the same result once.

    Steps after a trade that passed in the same simulation only repeat it, and are left out.
    """
    found: dict[tuple[str, bool, str], CallShown] = {}
    for proof in simulated:
        passed: set[str] = set()
        for call in proof.calls:
            kind = _kind(call)
            if kind is None or (kind in passed and not call.ok):
                continue
            if call.ok:
                passed.add(kind)
            found.setdefault((kind, call.ok, call.reason), _call(call, kind))
    return tuple(found.values())[:_MOST_CALLS]


_KINDS: Final = {
    "buy": "purchase",
    "sell": "sale",
    "transfer": "transfer",
    "act": "attempt",
    "approve": "approval",
}
_READS: Final = ("balance", "quote", "expected", "router", "held", "before", "after")
"""Words in the labels of calls that only read."""


def _kind(call: CallProof) -> str | None:
    """Return what a call is. None: it only reads, or is an approval that passed."""
    words = call.label.rpartition(": ")[2].split()
    if any(word in _READS for word in words):
        return None
    kind = next((_KINDS[word] for word in words if word in _KINDS), None)
    return None if kind == "approval" and call.ok else kind


def _call(call: CallProof, step: str) -> CallShown:
    selector = Selector(call.data[:_SELECTOR_CHARS]) if len(call.data) >= _SELECTOR_CHARS else None
    return CallShown(
        step=step,
        sender=checksum(Address(call.sender)),
        to=checksum(Address(call.to)),
        function=_function(selector or FALLBACK),
        ok=call.ok,
        reason=quoted(call.reason) if call.reason else "",
    )


class _Hidden(msgspec.Struct, frozen=True):
    kind: str
    account: Address
    slot: Hash32 | None
    amount_raw: str
    spender: Address | None = None


class _Unexplained(msgspec.Struct, frozen=True):
    slot: Hash32
    value: Hash32


class _Creation(msgspec.Struct, frozen=True):
    block_number: int
    hidden: tuple[_Hidden, ...] = ()
    unexplained: tuple[_Unexplained, ...] = ()


def _of_creation(key: str, rendered: RenderedReport) -> Iterator[ProofShown]:
    """Yield what the creation left behind without an event, or without a known key."""
    found = rendered.proofs.body("hidden_creation", _Creation)
    if found is None:
        return
    if key == "disguised_code" and found.hidden:
        yield ProofShown(
            title=f"Left by the creation in block {found.block_number}, without an event",
            slots=tuple(
                SlotShown(slot=one.slot, value=None)
                for one in found.hidden[:_MOST_PLACES]
                if one.slot is not None
            ),
            conditions=tuple(map(_hidden, found.hidden[:_MOST_CALLS])),
        )
    if key == "unproved_code" and found.unexplained:
        yield ProofShown(
            title=f"Left by the creation in block {found.block_number}, at places of unknown keys",
            slots=tuple(
                SlotShown(slot=one.slot, value=one.value)
                for one in found.unexplained[:_MOST_PLACES]
            ),
        )


def _hidden(one: _Hidden) -> str:
    account = checksum(one.account)
    if one.spender is None:
        return f"balance of {account}: {one.amount_raw}"
    return f"allowance of {account} for {checksum(one.spender)}: {one.amount_raw}"


class _OpenWrite(msgspec.Struct, frozen=True):
    selector: int
    pc: int
    reason: str


class _OpenWrites(msgspec.Struct, frozen=True):
    writes: tuple[_OpenWrite, ...] = ()


class _Control(msgspec.Struct, frozen=True):
    selector: Selector
    pc: int
    effect: str


class _Controls(msgspec.Struct, frozen=True):
    conditions: tuple[_Control, ...] = ()


_UNPROVED: Final = ("allowance_bypass", "funds_can_be_drained", "creates_balances")


def _open(key: str, rendered: RenderedReport) -> Iterator[ProofShown]:
    """Yield open questions, and the conditions that privileged accounts set."""
    names = _UNPROVED if key == "unproved_code" else (key,)
    for name in names:
        found = rendered.proofs.body(f"{name}:open", _OpenWrites)
        if found is not None and found.writes:
            selectors = dict.fromkeys(Selector(f"0x{each.selector:08x}") for each in found.writes)
            yield ProofShown(
                title="Not proved in the code",
                functions=tuple(map(_function, selectors)),
                places=tuple(each.pc for each in found.writes)[:_MOST_PLACES],
                conditions=tuple(dict.fromkeys(each.reason for each in found.writes))[:_MOST_CALLS],
            )
            return
    if key == "hidden_owner_controls":
        controls = rendered.proofs.body(key, _Controls)
        if controls is not None and controls.conditions:
            named = dict.fromkeys(each.selector for each in controls.conditions)
            yield ProofShown(
                title="In the code",
                functions=tuple(map(_function, named)),
                places=tuple(each.pc for each in controls.conditions)[:_MOST_PLACES],
            )
