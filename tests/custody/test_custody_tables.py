"""Protects the truth tables of custody, the suspects, and arguments of unknown functions."""

from collections.abc import Sequence

import pytest
from eth_abi.abi import decode

from analysis.scenarios.theft import allowance_bypass, drain, owner_balance
from analysis.scenarios.theft.allowance_bypass import BypassFindings
from analysis.scenarios.theft.argument_filling import call_templates, fill
from analysis.scenarios.theft.attack_setup import AttackSetup
from analysis.scenarios.theft.privileged_candidates import MOST_SUSPECTS, stored_addresses, suspects
from analysis.scenarios.theft.theft_attempts import TheftOutcome
from analysis.scenarios.theft.theft_checks import TheftInquiry, write_simulations
from analysis.scenarios.trade import transfer
from analysis.scenarios.trade.transfer import TransferResult, Wallet
from analysis.simulation.disguise import Disguise
from analysis.static.custody.custody_report import StoredAddress
from analysis.static.custody.simulation_hints import DebitingFunction, KeyArgument, SimulationHints
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount

STRANGER, OWNER, ROUTER, VICTIM, TOKEN = (Address("0x" + digit * 40) for digit in "12345")
WALLET = Wallet(address=VICTIM, balance_raw=RawAmount(400), amount_raw=RawAmount(100), slot_index=0)


def seen(attacker: Address, *, moved: bool | None, grown: bool = False) -> TheftOutcome:
    return TheftOutcome(
        attacker=attacker,
        wallet=VICTIM,
        what="",
        before_raw=400,
        after_raw=400,
        has_moved=moved,
        has_grown=grown,
        reason="",
    )


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], BypassFindings(value=None)),
        ([seen(STRANGER, moved=None), seen(OWNER, moved=None)], BypassFindings(value=None)),
        ([seen(OWNER, moved=False)], BypassFindings(value=None)),  # no stranger was seen to fail
        ([seen(STRANGER, moved=False), seen(OWNER, moved=None)], BypassFindings(value=None)),
        ([seen(STRANGER, moved=False), seen(OWNER, moved=False)], BypassFindings(value=False)),
        (
            [seen(STRANGER, moved=False), seen(ROUTER, moved=True), seen(OWNER, moved=True)],
            BypassFindings(value=True, spenders=(OWNER, ROUTER)),
        ),
        (
            [seen(STRANGER, moved=None), seen(OWNER, moved=True)],
            BypassFindings(value=True, spenders=(OWNER,)),
        ),
        ([seen(STRANGER, moved=True), seen(OWNER, moved=True)], BypassFindings(value=True)),
    ],
)
def test_the_table_of_allowance_bypass(
    outcomes: Sequence[TheftOutcome], expected: BypassFindings
) -> None:
    assert allowance_bypass.conclude(outcomes, [OWNER, ROUTER]) == expected


@pytest.mark.parametrize(
    ("able", "contracts", "expected"),
    [
        ((OWNER,), (OWNER,), BypassFindings(value=None, spenders=(OWNER,))),
        ((OWNER,), (), BypassFindings(value=True, spenders=(OWNER,))),
        ((OWNER, ROUTER), (ROUTER,), BypassFindings(value=True, spenders=(OWNER, ROUTER))),
        ((OWNER, STRANGER), (OWNER,), BypassFindings(value=True)),
    ],
)
def test_the_success_of_contracts_alone_is_no_answer(
    able: Sequence[Address], contracts: Sequence[Address], expected: BypassFindings
) -> None:
    outcomes = [seen(attacker, moved=True) for attacker in able] + [seen(STRANGER, moved=False)]
    assert allowance_bypass.conclude(outcomes, [OWNER, ROUTER], contracts) == expected
    drained = drain.conclude(
        outcomes, bypass=False, is_untried=False, is_open=False, contracts=contracts
    )
    assert drained is expected.value


FAILED, LOST, UNSEEN = (seen(OWNER, moved=moved) for moved in (False, True, None))


@pytest.mark.parametrize("has_shape", [False, True])
@pytest.mark.parametrize(
    ("outcomes", "by_bypass", "expected"),
    [
        ([], None, None),
        ([UNSEEN], None, None),
        ([LOST], None, True),
        ([LOST, FAILED], False, True),
        ([], True, True),
        ([FAILED], True, True),
        ([], False, False),
        ([FAILED], None, False),
        ([FAILED, UNSEEN], False, False),
    ],
)
def test_the_table_of_funds_can_be_drained(
    outcomes: Sequence[TheftOutcome],
    by_bypass: bool | None,
    expected: bool | None,
    *,
    has_shape: bool,
) -> None:
    answer = drain.conclude(outcomes, bypass=by_bypass, is_untried=False, is_open=has_shape)
    assert answer is (None if has_shape and expected is False else expected)


def test_what_the_node_did_not_play_is_not_known_to_be_safe() -> None:
    outcomes = [FAILED]
    assert drain.conclude(outcomes, bypass=False, is_untried=True, is_open=False) is None
    assert drain.conclude([LOST], bypass=False, is_untried=True, is_open=False) is True


@pytest.mark.parametrize(
    ("outcomes", "is_helpless", "expected"),
    [
        ([], False, None),
        ([], True, False),
        ([UNSEEN], False, None),
        ([FAILED], False, False),
        ([LOST], False, True),
        ([seen(OWNER, moved=False, grown=True)], False, True),
    ],
)
def test_the_table_of_owner_can_change_balance(
    outcomes: Sequence[TheftOutcome], expected: bool | None, *, is_helpless: bool
) -> None:
    assert owner_balance.conclude(outcomes, is_helpless=is_helpless) is expected


# --- who is suspected ---------------------------------------------------------------------------


def test_suspects_come_once_the_likeliest_first_and_nobody_dead() -> None:
    creator, constant, stored = (Address("0x" + digit * 40) for digit in "abc")
    found = suspects(
        token=TOKEN,
        owners=[OWNER, ZERO_ADDRESS],
        creator=creator,
        hints=SimulationHints(addresses=(constant, OWNER)),
        stored=[stored, *BURN_ADDRESSES],
        venues=[ROUTER, stored],
    )
    assert found == (OWNER, creator, constant, stored, TOKEN, ROUTER)


def test_an_address_is_read_out_of_the_middle_of_a_word() -> None:
    slot = Hash32("0x" + "0" * 64)
    places = [StoredAddress(slot=slot, shift=shift) for shift in (0, 8, 40)]
    word = int(OWNER, 16)
    assert stored_addresses(places, [word, word << 8 | 1, None]) == {
        places[0]: OWNER,
        places[1]: OWNER,
    }
    assert stored_addresses(places[:1], [2**255 | word]) == {
        places[0]: OWNER
    }  # other things above it


# --- arguments of unknown functions -------------------------------------------------------------


def filled(types: str, *keys: KeyArgument) -> list[tuple[object, ...]]:
    mover = DebitingFunction(selector=0x12345678, arguments=types, keys=keys)
    found = []
    for _, recipe in sorted(call_templates(mover, is_taking=True), key=lambda pair: pair[0]):
        data = fill(recipe, WALLET, STRANGER)
        assert data is not None
        assert data.startswith("0x12345678")
        found.append(decode([f"({types})"], _tupled(types, data))[0])
    return found


def _tupled(types: str, data: str) -> bytes:
    """Arguments as the fields of one tuple, which has an offset where it is dynamic."""
    raw = bytes.fromhex(data[10:])
    is_dynamic = any(mark in types for mark in ("[]", "bytes,", "string")) or types == "bytes"
    return ((32).to_bytes(32) if is_dynamic else b"") + raw


def test_the_wallet_stands_in_every_place_for_an_address() -> None:
    assert filled("address,address,uint256")[:2] == [
        (VICTIM, STRANGER, 100),
        (STRANGER, VICTIM, 100),
    ]
    assert {amount for *_, amount in filled("address,uint256")} == {100, 400, 1, 0}
    assert filled("address[],uint96[]")[0] == ((VICTIM,), (100,))
    assert filled("(address,uint256)[],address")[0] == (((VICTIM, 100),), STRANGER)


def test_a_number_that_code_takes_for_an_address_is_one() -> None:
    assert filled("uint256,uint256", KeyArgument(offset=36, is_left=False))[0] == (
        100,
        int(VICTIM, 16),
    )


def test_calldata_that_is_passed_on_moves_the_wallets_tokens() -> None:
    ((inner,),) = filled("bytes")
    assert isinstance(inner, bytes)
    assert inner[4:36].endswith(bytes.fromhex(VICTIM[2:]))


def test_functions_that_name_nobody_are_left_alone() -> None:
    assert filled("uint256,bool") == []
    assert filled("") == []


def test_a_fallback_is_given_people_where_it_reads_them() -> None:
    mover = DebitingFunction(selector=None, keys=(KeyArgument(offset=0, is_left=True),))
    rank, recipe = min(call_templates(mover, is_taking=True), key=lambda pair: pair[0])
    data = fill(recipe, WALLET, STRANGER)
    assert rank == 0
    assert data is not None
    assert data.startswith(VICTIM + (100).to_bytes(32).hex())


def test_everything_fits_eight_simulations_each_within_a_nodes_gas() -> None:
    secret = Disguise(secret="s", base_fee_wei=1, proposers=(ROUTER,))
    pin = BlockRef(number=1, hash=Hash32("0x"), parent_hash=Hash32("0x"), time_s=1)
    attack = AttackSetup(
        pin=pin,
        disguise=secret,
        token=TOKEN,
        block=(2, 2),
        supply_raw=RawAmount(10**24),
        slot_index=0,
        holders=(holder(VICTIM), holder(STRANGER)),
        giver=ROUTER,
    )
    people = tuple(Address(f"0x{number:040x}") for number in range(2**64, 2**64 + MOST_SUSPECTS))
    movers = tuple(
        DebitingFunction(selector=number, arguments="address,address,address,uint256")
        for number in range(12)
    )
    inquiry = TheftInquiry(
        attack=attack,
        hints=SimulationHints(movers=movers),
        suspects=people,
        owners=people,
        is_owner_known=True,
    )
    cases = write_simulations(inquiry).cases
    assert len(cases) <= 8
    assert max(len(case.attempts) for case in cases) * 600_000 < 50_000_000
    assert all(len(case.simulation.blocks) == 1 for case in cases)
    wallets = [each.wallet.address for each in cases[0].attempts]
    assert len(set(wallets)) > len(wallets) // 2  # hardly any attempt in another's way


# --- the transfer check -------------------------------------------------------------------------


def holder(address: Address) -> Wallet:
    return Wallet(
        address=address, balance_raw=RawAmount(5), amount_raw=RawAmount(1), slot_index=None
    )


def test_whoever_the_code_knows_never_stands_in_for_a_holder() -> None:
    wallets = [WALLET, holder(OWNER), holder(ROUTER), holder(STRANGER)]
    chosen = transfer.choose(wallets, {OWNER, ROUTER})
    assert chosen == (WALLET, holder(STRANGER))
    assert transfer.choose([holder(OWNER)], {OWNER}) == ()


def test_a_check_without_a_wallet_is_made_again_after_six_hours() -> None:
    assert transfer.is_due(None, now_s=10)
    assert not transfer.is_due(10, now_s=10 + 6 * 3600)
    assert transfer.is_due(10, now_s=11 + 6 * 3600)


@pytest.mark.parametrize(
    ("result", "before_s", "expected"),
    [
        (None, None, 100_000),  # the first, without a wallet
        (None, 90_000, 90_000),  # not made again yet
        (None, 70_000, 100_000),  # made again, without a wallet again
        (transfer.unsettled("the node"), None, None),
        (TransferResult(success=True, send_tax=0.0, receive_tax=0.0, reason=""), 90_000, 100_000),
    ],
)
def test_when_the_check_that_counts_was_made(
    result: TransferResult | None, before_s: int | None, expected: int | None
) -> None:
    checked_at_s = transfer.checked_at_s(result, no_wallet_at_s=before_s, now_s=100_000)
    assert checked_at_s == expected
