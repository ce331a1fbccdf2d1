"""Compiles traps in one go and puts them on the chain, each with its pool and three holders."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from eth_utils.crypto import keccak

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.layout import BURN, Pool, Sides, World, ZooToken, named_account
from assay.demo.reads import read_address
from assay.demo.seeding import fetch_addresses, seed
from assay.demo.transaction_pipeline import Pipeline, created2_address
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.redteam.trap_model import Trap

POOL_WEI = 5 * ETHER
POOL_RAW = 930_000 * ETHER
HOLDERS = tuple(named_account(f"holder of traps {number}") for number in range(3))

_FLOOR = Path(__file__).resolve().with_name("Floor.sol")
_HEAD = '// SPDX-License-Identifier: Apache-2.0\npragma solidity ^0.8.24;\nimport "./Floor.sol";\n'
_SEARCH_GAS = 50_000_000
_DECOY = 40
"""Ratio of the traded pool to a decoy."""
_AT_ONCE = 24
"""Traps whose transactions are mined together: one flush of the pipeline."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A trap on the chain."""

    trap: Trap
    token: ZooToken
    home: Address
    """Contract with the condition: the hook, else the token."""
    courier: Address


def compile_traps(traps: Sequence[Trap]) -> Artifacts:
    """One run of the compiler for all of them."""
    sources = {f"{trap.name}.sol": _HEAD + trap.source for trap in traps}
    return compile_sources({"Floor.sol": _FLOOR.read_text(), **sources})


def place_traps(
    node: AnvilNode, world: World, artifacts: Artifacts, traps: Sequence[Trap]
) -> list[Placed]:
    """Deploy every trap with five coins and 93 percent of its supply in a separate pool.

    `artifacts` hold the demo's contracts and the traps'. Raises TransactionFailedError.
    """
    owner = world.owner
    node.set_balance(owner, 10**6 * ETHER)
    for holder in HOLDERS:
        node.set_balance(holder, ETHER)
    builder = _Builder(node, world, artifacts)
    placed: list[Placed] = []
    for at in range(0, len(traps), _AT_ONCE):
        placed += builder.place(traps[at : at + _AT_ONCE])
    return placed


def keeper_of(node: AnvilNode) -> Address:
    """Return the second account of the traps' maker. The node has its key, so it can sign."""
    return node.accounts()[8]


class _Builder:
    def __init__(self, node: AnvilNode, world: World, artifacts: Artifacts) -> None:
        self._node = node
        self._world = world
        self._pipeline = Pipeline(node, artifacts)
        self._pair_creation = self._pipeline.creation("UniswapV2Pair").hex()
        self._flagged = self._pipeline.deploy("FlaggedDeployer", sender=world.owner)
        self._courier = self._pipeline.deploy("Courier", sender=world.owner)
        self._pipeline.flush()
        self._hooks = 0
        self._keeper = keeper_of(node)

    def place(self, traps: Sequence[Trap]) -> list[Placed]:
        hooks = [self._hook(trap) if trap.hook_flags else None for trap in traps]
        pairs = [self._create(trap, hook) for trap, hook in zip(traps, hooks, strict=True)]
        self._pipeline.flush()
        pools = fetch_addresses(self._node, self._world.venues, pairs)
        return [
            Placed(
                trap=trap,
                token=ZooToken(
                    key=trap.name,
                    trait=trap.label,
                    address=token,
                    symbol="CMP",
                    decimals=18,
                    pool=pool,
                    owner=self._world.owner,
                    holders=HOLDERS,
                ),
                home=hook or token,
                courier=self._courier,
            )
            for trap, hook, (token, _), pool in zip(traps, hooks, pairs, pools, strict=True)
        ]

    def _hook(self, trap: Trap) -> Address:
        """Deploy the hook immediately, because its address is searched for on the chain."""
        creation = self._pipeline.creation(trap.name, *self._given(self._world.venues.v4.factory))
        self._node.execute(
            {
                "from": self._world.owner,
                "to": self._flagged,
                "data": call_data("deploy(bytes,uint160)", creation, trap.hook_flags),
                "gas": hex(_SEARCH_GAS),
            }
        )
        made = read_address(self._node, self._flagged, "hooks(uint256)", self._hooks)
        self._hooks += 1
        # The pipeline counts the owner's transactions itself.
        self._pipeline.forget(self._world.owner)
        return made

    def _create(self, trap: Trap, hook: Address | None) -> tuple[Address, Pool]:
        world, owner = self._world, self._world.owner
        at = self._pipeline.next_address(owner)
        venues = world.venues
        name = f"{trap.name}Coin" if hook else trap.name
        pool_address = venues.v4.factory if trap.venue == "v4" else self._future_pair(at)
        token = self._pipeline.deploy(name, *self._given(pool_address), sender=owner)
        if hook and trap.dynamic_fee:
            venues = msgspec.structs.replace(venues, dynamic_hook=hook)
        sides = Sides(
            token=token,
            token_raw=POOL_RAW,
            quote=venues.wrapped_native.address,
            quote_raw=POOL_WEI,
            owner=owner,
            liquidity_to={"kept": owner, "keepers": self._keeper, "burnt": BURN}[trap.liquidity],
        )
        pool = seed(self._pipeline, venues, trap.venue, sides, hooks=hook or ZERO_ADDRESS)
        if trap.decoy:
            small = msgspec.structs.replace(
                sides, token_raw=POOL_RAW // _DECOY, quote_raw=POOL_WEI // _DECOY
            )
            seed(self._pipeline, venues, trap.decoy, small)
        for number, holder in enumerate(HOLDERS):
            amount_raw = 10_000 * ETHER + number
            self._pipeline.call(
                token, "transfer(address,uint256)", holder, amount_raw, sender=owner
            )
        return token, pool

    def _given(self, pool: Address) -> tuple[Address, ...]:
        """Return the arguments of every constructor."""
        weth = self._world.venues.wrapped_native.address
        return pool, weth, self._keeper, self._world.owner

    def _future_pair(self, token: Address) -> Address:
        venues = self._world.venues
        lower, upper = sorted((token, venues.wrapped_native.address))
        salt = keccak(bytes.fromhex(lower[2:] + upper[2:]))
        return created2_address(venues.v2.factory, salt=salt, creation=self._pair_creation)
