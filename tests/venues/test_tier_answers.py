"""Factories' answers on their fees and tick spacings, nonsense and refusals included."""

import msgspec
import pytest
from eth_abi.abi import encode

from analysis.market import fee_tiers
from analysis.market.fee_tiers import TierReads, Tiers
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.abi import topic_of
from core.evm.primitives import Address
from core.rpc.messages import RpcFault
from tests.harness.node.answers import BLOCK, answer_in_turn

FACTORY, OTHER = Address("0x" + "1a" * 20), Address("0x" + "2b" * 20)
BY_FEE = topic_of("FeeAmountEnabled(uint24,int24)")
BY_SPACING = topic_of("TickSpacingEnabled(int24,uint24)")
REFUSED = RpcFault(code=-32005, message="range too long")
NOW_S = 1_000_000


def venue(kind: DexKind = "AmmV3", variant: str | None = None, factory: Address = FACTORY) -> Dex:
    return Dex(name="D", kind=kind, variant=variant, factory=factory, fee_tiers=(500, 3_000))


def event(topic: str, first: int, second: int, *, at: Address = FACTORY) -> dict[str, object]:
    return {"address": at, "topics": [topic, f"0x{first:064x}", f"0x{second:064x}"], "data": "0x"}


def logs(*events: dict[str, object]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(events))


def spacings(*values: int) -> msgspec.Raw:
    return msgspec.Raw(b'"0x' + encode(["int24[]"], [values]).hex().encode() + b'"')


@pytest.mark.parametrize(
    ("dex", "answers", "expected"),
    [
        (venue(), (logs(event(BY_FEE, 2_000, 40)),), (2_000,)),
        (venue(variant="solidly_v3"), (logs(event(BY_FEE, 2_000, 40)),), (40,)),
        (venue(variant="ramses_v3"), (logs(event(BY_SPACING, 40, 2_000)),), (40,)),
        (venue("SolidV3"), (logs(event(BY_SPACING, 40, 9)), spacings(1, 75)), (1, 40, 75)),
        (venue("SolidV3"), (REFUSED, spacings(75)), (75,)),
        (venue("SolidV3"), (logs(), msgspec.Raw(b'"0x"')), ()),
        (venue("SolidV3"), (logs(), msgspec.Raw(b'"0x00ff"')), ()),
        (venue(), (logs(event(BY_FEE, 2_000, 40, at=OTHER)),), ()),
        (venue(), (logs({**event(BY_FEE, 1, 1), "topics": [BY_FEE]}),), ()),
        (venue(), (logs(event(BY_FEE, 0, 40)),), ()),
        (venue(), (REFUSED,), ()),
    ],
)
def test_what_a_factory_says(
    dex: Dex, answers: tuple[msgspec.Raw | RpcFault, ...], expected: tuple[int, ...]
) -> None:
    batch = ReadBatch(BLOCK)
    tiers = TierReads(batch, [dex], to_block=None)
    answer_in_turn(batch, answers)
    assert tiers.read(now_s=NOW_S) == {FACTORY: Tiers(enabled=expected, read_at_s=NOW_S)}


def test_what_is_configured_stays() -> None:
    known = {FACTORY: Tiers(enabled=(2_000, 500), read_at_s=NOW_S)}
    (dex,) = fee_tiers.with_enabled([venue()], known)
    assert dex.fee_tiers == (500, 3_000, 2_000)
    (new,) = fee_tiers.with_new([venue()], [venue()], known)
    assert new.fee_tiers == (2_000,)
    assert fee_tiers.with_new([venue()], [dex], known) == ()


def test_factories_are_asked_once_a_day_unless_the_index_knows_their_pools() -> None:
    known = {FACTORY: Tiers(enabled=(), read_at_s=NOW_S)}
    dexes = (venue(), venue(factory=OTHER), venue("AmmV2"), venue(variant="algebra"))
    none: frozenset[Address] = frozenset()
    assert fee_tiers.unread(dexes, {}, covered=none, now_s=NOW_S) == dexes[:2]
    assert fee_tiers.unread(dexes, known, covered=none, now_s=NOW_S + 86_399) == dexes[1:2]
    assert fee_tiers.unread(dexes, known, covered=none, now_s=NOW_S + 86_400) == dexes[:2]
    assert fee_tiers.unread(dexes, {}, covered=frozenset({OTHER}), now_s=NOW_S) == dexes[:1]
