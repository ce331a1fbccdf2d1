"""Protects the zoo's claims: each token treats ordinary accounts as its trait states."""

import pytest
from eth_utils.crypto import keccak
from msgspec.structs import asdict

from assay.demo.anvil import NodeRefusedError
from assay.demo.reads import read, read_address
from assay.demo.zoo import ZOO
from config.burn import BURN_ADDRESSES
from core.evm.abi import AbiError, call_data
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.trade_oracle import real_trade
from tests.harness.chain.transactions import Chain, revert_reason

HONEST: dict[str, object] = {
    "buy_success": True,
    "buy_tax": 0,
    "sell_success": True,
    "sell_tax": 0,
    "transfer_success": True,
    "send_tax": 0,
    "receive_tax": 0,
}
CANNOT_SELL: dict[str, object] = {"sell_success": False, "sell_tax": None}
CANNOT_TRANSFER: dict[str, object] = {
    "transfer_success": False,
    "send_tax": None,
    "receive_tax": None,
}
CLOSED: dict[str, object] = {
    "buy_success": False,
    "buy_tax": None,
    "sell_success": None,
    "sell_tax": None,
    **CANNOT_TRANSFER,
}
KEEPS_123: dict[str, object] = dict.fromkeys(
    ("buy_tax", "sell_tax"),
    pytest.approx(1.23, abs=1e-4),  # of six decimals
)
TAXED: dict[str, object] = {"buy_tax": 3, "sell_tax": 3, "receive_tax": 3}

# What a trait changes about an honest token, for people who buy, wait and sell.
CLAIMS: dict[str, dict[str, object]] = {
    "buy_tax": {"buy_tax": 7},
    "sell_tax": {"sell_tax": 12},
    "both_tax": {"buy_tax": 5, "sell_tax": 9},
    "transfer_tax": TAXED,
    "sell_blocked": CANNOT_SELL,
    "not_opened": CLOSED,
    "blacklist": CANNOT_SELL | CANNOT_TRANSFER,
    "silent_refusal": CANNOT_SELL | CANNOT_TRANSFER,
    "v3_transfer_tax": TAXED | CANNOT_SELL,
    "v3_not_opened": CLOSED,
    "v4_hook": {"buy_tax": 2, "sell_tax": 4},
    "v4_trap": {"buy_tax": 1.23} | CANNOT_SELL,
    # Thirty dollars are too much of it.
    "tiny_transaction": {"buy_success": False, "buy_tax": None, "receive_tax": 2}
    | {"sell_success": None, "sell_tax": None}
    | CANNOT_TRANSFER,
    "v4_usdc_hook": KEEPS_123,
    "v4_input_hook": {"buy_tax": pytest.approx(3), "sell_tax": pytest.approx(3)},
    "v4_transfer_tax": TAXED | CANNOT_SELL,
    "algebra_transfer_tax": TAXED,
    "solid_transfer_tax": TAXED,
    "evades_free_gas": CANNOT_SELL,
    "evades_rich": CANNOT_SELL,
    "evades_round": CANNOT_SELL,
    "evades_clock": CANNOT_SELL,
    "dumping": {"sell_tax": pytest.approx(100, abs=0.1)},
    "partial_sale": {"sell_tax": pytest.approx(99.9)},
    "frozen": CANNOT_SELL | CANNOT_TRANSFER,
    "decoy": CANNOT_SELL | CANNOT_TRANSFER,
    "melting": {"buy_tax": 99},
}


def taken(chain: Chain, key: str, attacker: Address, signature: str, *values: object) -> int:
    """Return the amount that a thief gets from a holder's wallet with one call."""
    token = chain.world.token(key)
    before = chain.balance(token.address, attacker)
    chain.send(attacker, token.address, signature, *values)
    return chain.balance(token.address, attacker) - before


@pytest.mark.parametrize("key", [animal.key for animal in ZOO])
def test_trades_and_transfers_go_as_claimed(chain: Chain, key: str) -> None:
    outcome = real_trade(chain, chain.world.token(key))
    claim = HONEST | CLAIMS.get(key, {})
    assert asdict(outcome) == {
        field: value if isinstance(value, type(pytest.approx(0))) else pytest.approx(value)
        for field, value in claim.items()
    }


def test_every_claim_is_about_a_token_of_the_zoo() -> None:
    assert set(CLAIMS) <= {animal.key for animal in ZOO}
    assert len({animal.key for animal in ZOO}) == len(ZOO)


def test_a_seller_on_cooldown_has_to_wait(chain: Chain) -> None:
    token = chain.world.token("cooldown")
    # The approval, the sell and, where that is refused, a part of it come one second each after
    # the wait.
    assert real_trade(chain, token, wait_s=54).sell_success is False
    assert real_trade(chain, token, wait_s=58).sell_success is True


def test_the_owner_can_sell_what_others_cannot(chain: Chain) -> None:
    token = chain.world.token("sell_blocked")
    refused = chain.sell(token, token.holders[0])
    assert revert_reason(refused.sent) == "TransferHelper: TRANSFER_FROM_FAILED"
    assert chain.sell(token, token.owner, 10**18).success


def test_buyers_cannot_move_what_holders_before_them_can(chain: Chain) -> None:
    token = chain.world.token("blacklist")
    buyer = chain.fresh_account()
    assert chain.buy(token, buyer).success
    outcome = real_trade(chain, token, sender=buyer)
    assert outcome.transfer_success is False
    chain.send(token.owner, token.address, "setBot(address,bool)", buyer, False)
    assert chain.sell(token, buyer).success


@pytest.mark.parametrize("key", ["not_opened", "v3_not_opened"])
def test_trading_opens_when_the_owner_says_so(chain: Chain, key: str) -> None:
    token = chain.world.token(key)
    assert not chain.send(token.holders[0], token.address, "openTrading()").success
    assert chain.send(token.owner, token.address, "openTrading()").success
    outcome = real_trade(chain, token)
    assert outcome.buy_success
    assert outcome.sell_success


def test_a_transfer_over_the_maximum_fails(chain: Chain) -> None:
    token = chain.world.token("max_transaction")
    one, two, three = token.holders
    balance = chain.balance(token.address, one)
    assert chain.transfer(token.address, one, two, balance).success
    over = chain.transfer(token.address, two, three, balance + 1)
    assert revert_reason(over.sent) == "over the maximum"


def test_a_wallet_over_the_maximum_cannot_be_filled(chain: Chain) -> None:
    token = chain.world.token("max_wallet")
    one, two, three = token.holders
    balance = chain.balance(token.address, one)
    assert chain.transfer(token.address, one, two, balance).success
    assert revert_reason(chain.transfer(token.address, three, two, 1).sent) == "wallet is full"


def test_only_the_owner_mints(chain: Chain) -> None:
    token = chain.world.token("mintable")
    (supply,) = read(chain.node, token.address, "totalSupply()")
    for account, minted in ((token.holders[0], 0), (token.owner, 5)):
        chain.send(account, token.address, "mint(address,uint256)", account, 5)
        assert read(chain.node, token.address, "totalSupply()") == (int(str(supply)) + minted,)


def test_a_pause_stops_everything(chain: Chain) -> None:
    token = chain.world.token("pausable")
    chain.send(token.owner, token.address, "setPaused(bool)", True)
    outcome = real_trade(chain, token)
    assert not outcome.buy_success
    assert not outcome.transfer_success


def test_a_renounced_token_has_no_owner_and_cannot_be_paused(chain: Chain) -> None:
    token = chain.world.token("renounced")
    assert read_address(chain.node, token.address, "owner()") == ZERO_ADDRESS
    assert not chain.send(token.owner, token.address, "setPaused(bool)", True).success


@pytest.mark.parametrize(
    ("key", "until_s"), [("timebomb_constant", 4_102_444_800), ("timebomb_stored", None)]
)
def test_a_timebomb_goes_off_on_time(chain: Chain, key: str, until_s: int | None) -> None:
    token = chain.world.token(key)
    one, two, _ = token.holders
    deadline_s = until_s or int(str(read(chain.node, token.address, "deadline()")[0]))
    chain.node.set_time(deadline_s - 2)
    assert chain.transfer(token.address, one, two, 1).success
    assert revert_reason(chain.transfer(token.address, one, two, 1).sent) == "over"


def test_the_owner_can_move_a_stored_deadline(chain: Chain) -> None:
    token = chain.world.token("timebomb_stored")
    chain.send(token.owner, token.address, "setDeadline(uint256)", 0)
    one, two, _ = token.holders
    assert not chain.transfer(token.address, one, two, 1).success


@pytest.mark.parametrize(
    ("key", "by_keeper", "by_anybody"),
    [
        ("honest", 0, 0),
        ("bypass_universal", 7, 7),
        ("bypass_stored", 7, 0),
        ("bypass_constant", 7, 0),
    ],
)
def test_who_needs_no_allowance(chain: Chain, key: str, by_keeper: int, by_anybody: int) -> None:
    token = chain.world.token(key)
    keeper = token.keeper or chain.fresh_account()
    for attacker, loot in ((keeper, by_keeper), (chain.fresh_account(), by_anybody)):
        call = ("transferFrom(address,address,uint256)", token.holders[0], attacker, 7)
        assert taken(chain, key, attacker, *call) == loot


def test_anybody_can_drain_one_token_and_the_keeper_another(chain: Chain) -> None:
    attacker = chain.fresh_account()
    call = ("syncRewards(address,uint256)", chain.world.token("drain_open").holders[0], 7)
    assert taken(chain, "drain_open", attacker, *call) == 7

    token = chain.world.token("drain_keeper")
    assert token.keeper is not None
    for account, loot in ((attacker, 0), (token.keeper, 7)):
        call_as = ("rebalance(address,address,uint256)", token.holders[0], account, 7)
        assert taken(chain, "drain_keeper", account, *call_as) == loot


def test_two_burn_addresses_hold_what_was_burned(chain: Chain) -> None:
    token = chain.world.token("burned").address
    (supply,) = read(chain.node, token, "totalSupply()")
    shares = [chain.balance(token, burn) * 100 // int(str(supply)) for burn in BURN_ADDRESSES]
    assert sorted(shares) == [0, 0, 0, 5, 10]


def test_old_names_are_thirty_two_bytes_and_not_strings(chain: Chain) -> None:
    token = chain.world.token("bytes32").address
    (symbol,) = read(chain.node, token, "symbol()", returns="(bytes32)")
    assert symbol == b"OLD".ljust(32, b"\0")
    with pytest.raises(AbiError):
        read(chain.node, token, "symbol()", returns="(string)")


def test_hostile_symbols_do_what_they_are_for(chain: Chain) -> None:
    symbols = {
        key: {"to": chain.world.token(key).address, "data": call_data("symbol()")}
        for key in ("symbol_burns_gas", "symbol_megabyte", "symbol_reverts")
    }
    with pytest.raises(NodeRefusedError, match=r"(?i)out.*gas"):
        chain.node.rpc("eth_call", symbols["symbol_burns_gas"], "latest")
    with pytest.raises(NodeRefusedError, match="no symbol"):
        chain.node.rpc("eth_call", symbols["symbol_reverts"], "latest")
    assert len(str(chain.node.rpc("eth_call", symbols["symbol_megabyte"], "latest"))) > 2 * 2**20


def test_a_refusal_by_false_succeeds_and_moves_nothing(chain: Chain) -> None:
    token = chain.world.token("silent_refusal")
    one, two, _ = token.holders
    moved = chain.transfer(token.address, one, two, 5)
    assert moved.success
    assert moved.token_after == moved.token_before
    assert moved.other_after == moved.other_before


def test_proxies_and_clones_carry_what_their_standards_say(chain: Chain) -> None:
    def code(key: str) -> str:
        return str(chain.node.rpc("eth_getCode", chain.world.token(key).address, "latest"))

    def slot(key: str, name: str) -> int:
        position = int.from_bytes(keccak(text=name), "big") - 1
        token = chain.world.token(key).address
        return int(str(chain.node.rpc("eth_getStorageAt", token, hex(position), "latest")), 16)

    assert code("clone_1167").startswith("0x363d3d373d3d3d363d73")
    assert code("clone_1167").endswith("5af43d82803e903d91602b57fd5bf3")
    assert slot("proxy_1967", "eip1967.proxy.implementation") != 0
    assert slot("proxy_1967", "eip1967.proxy.admin") == int(chain.world.owner, 16)
    assert slot("proxy_beacon", "eip1967.proxy.beacon") != 0
