"""Kinds of the accounts that hold powers: wallets, multisigs, contracts and those behind them.

A known multisig is recognised by its code, never by its answers, as any contract can answer. Of any
other contract the code is analysed: it acts only through functions that call other contracts, so
the accounts that these require hold the power. Bounds: `_MOST_HOLDERS` accounts, `_DEEPEST` steps.
"""

from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import Reply, decode_uint
from analysis.static.analyse_code import CodeAnalysis
from analysis.static.evm.disassembly import hash_of, strip_metadata
from analysis.token.admission import is_delegated_account
from analysis.token.deployed_code import AnalyseBytes
from analysis.token.live_setters import read_live_setters
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32, to_hash32
from core.report.powers import HolderKind, Power

_MOST_HOLDERS: Final = 8
_DEEPEST: Final = 2
_LEAST_THRESHOLD: Final = 2
_WORD: Final = 32

_SAFE_PROXY: Final = Hash32("0x4c4fbded328c3a670dde13310bb5e7d6564930d5cafcfda40f8df9537cfc9288")
"""Code of a Safe's proxy, releases 1.1.1 to 1.4.1: it delegates to the address in slot 0."""

_SAFES: Final = frozenset(
    map(
        Hash32,
        (
            "0xd6a298c0fe1bcc3d945697bb59c42491472b8a2d5673fe62796b1aff271f6e3f",
            "0xa9f474dc957b55c03c8b668153fe00b394383752c38d6cd866be991004b9bb70",
            "0x87ea1c2e528f09f2b830807df8219011e28baa9e0078abb9b3cd1506937c53f3",
            "0x1fe2df852ba3299d6534ef416eefa406e56ced995bca886ab7a553e6d0c5e1c4",
            "0xea96abef24997deff8f73402f27e5372d9731cdde9f37f90880e7dd156d2ab1b",
        ),
    )
)
"""Codes of Safe 1.1.1, 1.3.0, 1.3.0 L2, 1.4.1 and 1.4.1 L2, hashed without metadata.

Source: the packages @gnosis.pm/safe-contracts 1.3.0 and @safe-global/safe-contracts 1.4.1; 1.1.1
and 1.3.0 as deployed on Ethereum at 0x34CfAC64... and 0xd9Db270c....
"""

_SLOT_0: Final = to_hash32(0)
_NO_MODULES: Final = 1
"""A Safe's list of modules is closed by the address 1, which then follows itself."""

_RANKS: Final[tuple[HolderKind, ...]] = (
    *("nobody", "multisig", "timelock", "contract", "list", "wallet", "unknown", "anybody"),
)
"""Kinds of those that act through a contract, the most harmful last."""


class PowerHolder(msgspec.Struct, frozen=True, kw_only=True):
    """The kind of one account."""

    kind: HolderKind
    detail: str | None = None


_UNKNOWN: Final = PowerHolder(kind="unknown")


async def with_holder_kinds(
    reader: BlockReader, powers: tuple[Power, ...], *, analyse: AnalyseBytes
) -> tuple[Power, ...]:
    """Return the powers with the kinds of their holders; one that is not read stays `unknown`.
    Never raises UpstreamError."""
    named = dict.fromkeys(
        power.holder
        for power in powers
        if power.holder is not None and power.holder_kind == "unknown" and not power.is_harmless
    )
    if not named:
        return powers
    holders = await _read(reader, list(named)[:_MOST_HOLDERS], analyse, _DEEPEST)
    return tuple(
        power
        if power.holder not in holders or power.holder_kind != "unknown"
        else msgspec.structs.replace(
            power,
            holder_kind=holders[power.holder].kind,
            detail=holders[power.holder].detail or power.detail,
        )
        for power in powers
    )


async def _read(
    reader: BlockReader, addresses: Collection[Address], analyse: AnalyseBytes, depth: int
) -> dict[Address, PowerHolder]:
    batch = reader.batch()
    codes = {address: batch.code(address) for address in addresses}
    try:
        await reader.send(batch)
        found = {}
        for address, read in codes.items():
            code = batch.get(read)
            if code is None:
                found[address] = _UNKNOWN
            elif not code or is_delegated_account(code):
                found[address] = PowerHolder(kind="wallet")
            elif hash_of(strip_metadata(code)) == _SAFE_PROXY:
                found[address] = await _safe(reader, address)
            else:
                found[address] = await _contract(
                    reader, address, await analyse(code), analyse, depth
                )
    except UpstreamError:
        return {}
    return found


async def _safe(reader: BlockReader, address: Address) -> PowerHolder:
    """Return a Safe's kind: one with modules, or one signature, is no multisig."""
    batch = reader.batch()
    code = batch.code(AnswerAddress(batch.slot(address, _SLOT_0)))
    threshold = batch.call(address, "getThreshold()", returns=decode_uint)
    owners = batch.call(address, "getOwners()", returns=_length)
    modules = batch.call(
        address, "getModulesPaginated(address,uint256)", _address(_NO_MODULES), 1, returns=_module
    )
    await reader.send(batch)
    least, members, module = batch.get(threshold), batch.get(owners), batch.get(modules)
    is_known = hash_of(strip_metadata(batch.get(code) or b"")) in _SAFES
    if not is_known or least is None or members is None or module != _NO_MODULES:
        return PowerHolder(kind="contract")
    if least < _LEAST_THRESHOLD:
        return PowerHolder(kind="wallet", detail=f"a Safe that {least} of {members} owners sign")
    return PowerHolder(kind="multisig", detail=f"{least} of {members}")


async def _contract(
    reader: BlockReader,
    address: Address,
    found: CodeAnalysis,
    analyse: AnalyseBytes,
    depth: int,
) -> PowerHolder:
    """Return the worst of the accounts that can make the contract call others."""
    powers = found.powers
    if found.delegation.is_proxy is not False or not powers.is_complete or powers.calls is None:
        return PowerHolder(kind="contract")
    live = await read_live_setters(reader, address, powers)
    setters = [each for each in (*powers.calls, *powers.wild) if live.is_live(each)]
    if any(each.authority != "named" for each in setters):
        return PowerHolder(kind="contract")
    callers = {caller for setter in setters for caller in live.callers(setter)}
    if None in callers or (callers and depth == 0):
        return PowerHolder(kind="contract")
    behind = await _read(reader, [each for each in callers if each is not None], analyse, depth - 1)
    if len(behind) < len(callers):
        return _UNKNOWN
    return _worst(behind.values())


def _worst(holders: Iterable[PowerHolder]) -> PowerHolder:
    return max(
        holders,
        key=lambda each: _RANKS.index(each.kind),
        default=PowerHolder(kind="nobody", detail="a contract that calls nothing"),
    )


def _address(number: int) -> Address:
    return Address(f"0x{number:040x}")


def _length(reply: Reply) -> int | None:
    """Return the length of an array that is answered alone."""
    data = reply if isinstance(reply, bytes) else b""
    return int.from_bytes(data[_WORD : 2 * _WORD]) if len(data) > _WORD else None


def _module(reply: Reply) -> int | None:
    """Return the start of the next page; the end of the list if there is no module."""
    data = reply if isinstance(reply, bytes) else b""
    next_, length = data[_WORD : 2 * _WORD], data[2 * _WORD : 3 * _WORD]
    if len(length) < _WORD or int.from_bytes(length):
        return None
    return int.from_bytes(next_)
