"""Uniswap V4's own position manager, as its npm package ships it, on the demo's chain."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from eth_abi.abi import encode

from assay.demo.compile import Artifacts, load_shipped
from assay.demo.concentrated import POOL_KEY, pool_key
from assay.demo.layout import FOR_EVER, Pool, Sides, ZooToken, native_worth
from assay.demo.seeding import seed
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.transactions import Chain, Sent

OUTERMOST: Final = 887_220
"""The last tick that the demo's pools allow."""

_PATH: Final = "@uniswap/v4-periphery/foundry-out/PositionManager.sol/PositionManager.json"
_DECREASE, _MINT, _SETTLE, _TAKE_PAIR, _SWEEP = 0x01, 0x02, 0x0B, 0x11, 0x14
"""Actions. Source: v4-periphery, libraries/Actions."""

_UNSUBSCRIBE_GAS: Final = 300_000
_ANYTHING: Final = 2**128 - 1
_SHARE_RAW: Final = 1_000 * 10**18


@cache
def artifacts() -> Artifacts:
    """The contract as its authors compiled it. Raises ConfigError where it is not installed."""
    return {"PositionManager": load_shipped("PositionManager", _PATH)}


def deploy_position_manager(chain: Chain) -> Address:
    """Deploy a position manager for the demo's pool manager, without Permit2 and pictures."""
    known = Chain(chain.node, chain.world, chain.artifacts | artifacts())
    venues = chain.world.venues
    return known.deploy(
        "PositionManager",
        *(venues.v4.factory, ZERO_ADDRESS, _UNSUBSCRIBE_GAS, ZERO_ADDRESS),
        venues.wrapped_native.address,
    )


def mint_position(
    chain: Chain,
    manager: Address,
    holder: Address,
    token: tuple[Address, Pool],
    liquidity: int,
    *,
    coins_wei: int,
) -> Sent:
    """Mint a position over all prices of a pool against the coin.

    The manager receives a quarter of the holder's tokens as payment, and returns the rest of these
    and the coins.
    """
    address, pool = token
    given = chain.balance(address, holder) // 4
    assert chain.send(holder, address, "transfer(address,uint256)", manager, given).success
    key = pool_key(pool, address)
    terms = (key, -OUTERMOST, OUTERMOST, liquidity, _ANYTHING, _ANYTHING, holder, b"")
    types = [POOL_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"]
    acts = [(_MINT, encode(types, terms))]
    for currency in (ZERO_ADDRESS, address):
        acts.append((_SETTLE, encode(["address", "uint256", "bool"], [currency, 0, False])))
        acts.append((_SWEEP, encode(["address", "address"], [currency, holder])))
    order = sorted(acts, key=lambda act: act[0] == _SWEEP)
    return chain.send(
        holder,
        manager,
        "modifyLiquidities(bytes,uint256)",
        *(_unlock_data(order), FOR_EVER),
        value_wei=coins_wei,
    )


def take_pair(position: tuple[int, int], pair: tuple[Address, Address], to: Address) -> bytes:
    """Encode the call of `modifyLiquidities` that decreases a position and sends the proceeds."""
    decreased = encode(
        ["uint256", "uint256", "uint128", "uint128", "bytes"], [*position, 0, 0, b""]
    )
    taken = encode(["address", "address", "address"], [*pair, to])
    return _unlock_data([(_DECREASE, decreased), (_TAKE_PAIR, taken)])


def _unlock_data(acts: Sequence[tuple[int, bytes]]) -> bytes:
    actions, params = bytes(act for act, _ in acts), [param for _, param in acts]
    return encode(["bytes", "bytes[]"], [actions, params])


def seed_hooked(chain: Chain, token: ZooToken, *, holders: int) -> Address:
    """Create three pools of the token with a hook each; return the position manager.

    They are worth 200,000 to 600,000 dollars, in part as positions of `holders` accounts.
    """
    venues = chain.world.venues
    manager = deploy_position_manager(chain)
    hooks = (venues.fee_hook, venues.input_hook, venues.dynamic_hook)
    for thousands, hook in zip((300, 200, 100), hooks, strict=True):
        pipeline = Pipeline(chain.node, chain.artifacts)
        sides = Sides(
            token=token.address,
            token_raw=_SHARE_RAW,
            quote=venues.wrapped_native.address,
            quote_raw=native_worth(1_000 * thousands),
            owner=token.owner,
        )
        pool = seed(pipeline, venues, "v4", sides, hooks=hook)
        pipeline.flush()
        for number in range(holders):
            holder = chain.fresh_account()
            given = chain.send(
                token.owner, token.address, "transfer(address,uint256)", holder, _SHARE_RAW
            )
            assert given.success
            minted = mint_position(
                chain,
                manager,
                holder,
                (token.address, pool),
                10**18 * (holders - number),
                coins_wei=native_worth(30_000),
            )
            assert minted.success
    return manager
