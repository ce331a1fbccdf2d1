"""Builds the demo's world: anchors, venues and the zoo, on a node that starts empty."""

from collections.abc import Sequence

import msgspec
from eth_utils.crypto import keccak

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.compile import load_artifacts
from assay.demo.concentrated import open_concentrated
from assay.demo.demo_exchanges import deploy_venues
from assay.demo.demo_launchpads import build_launchpads
from assay.demo.layout import (
    BURN,
    Pool,
    Sides,
    Venues,
    World,
    ZooToken,
    named_account,
    native_worth,
)
from assay.demo.seeding import PAIRS, approve_stables, fetch_addresses, seed
from assay.demo.setup_stages import OnStage, show_nothing
from assay.demo.transaction_pipeline import Pipeline, created2_address, created_address
from assay.demo.zoo import ZOO
from assay.demo.zoo_token import Animal
from core.evm.primitives import ZERO_ADDRESS, Address
from core.rpc.messages import RpcRequest

_SUPPLY_RAW = 1_000_000 * 10**18
"""Supply of every token of the zoo, independent of its decimals."""
_HOLDERS = 3
_TRADERS = 4
_STABLE_SHARE_USD = 5_000_000
"""Stables for the owner and for each trader."""
_WRAPPED_WEI = 1_000 * ETHER
"""Wrapped coins for each trader: some routers take no others."""


def build_world(
    node: AnvilNode, *, zoo: Sequence[Animal] = ZOO, on_stage: OnStage = show_nothing
) -> World:
    """Deploy everything, the same on every empty node of the same chain id. `zoo`: the tokens.

    Raises ConfigError where the npm packages are missing, CompileError, and
    TransactionFailedError when a transaction does not go through.
    """
    pipeline, world = _open_market(node, on_stage)
    on_stage("releasing tokens")
    tokens = Zoo(pipeline, world.venues, world.owner).build(node, zoo)
    on_stage("opening launch platforms")
    launchpads, launched = build_launchpads(pipeline, world.venues, node.accounts()[-1])
    return msgspec.structs.replace(world, tokens=tokens, launchpads=launchpads, launched=launched)


def build_market(node: AnvilNode) -> World:
    """Deploy only anchors and venues: the cost of each block grows with the state. Raises as
    `build_world`."""
    pipeline, world = _open_market(node, show_nothing)
    pipeline.flush()
    return world


def _open_market(node: AnvilNode, on_stage: OnStage) -> tuple[Pipeline, World]:
    deployer, owner, launcher, *traders = node.accounts()[: 3 + _TRADERS]
    on_stage("compiling contracts")
    artifacts = load_artifacts()
    on_stage("deploying exchanges")
    pipeline = Pipeline(node, artifacts)
    venues = deploy_venues(node, pipeline, deployer)
    _share_stables(pipeline, venues, deployer, (owner, *traders))
    for trader in traders:
        pipeline.call(
            venues.wrapped_native.address, "deposit()", sender=trader, value_wei=_WRAPPED_WEI
        )
    _seed_anchors(pipeline, venues, deployer)
    world = World(
        venues=venues,
        tokens=(),
        deployer=deployer,
        owner=owner,
        traders=tuple(traders),
        launcher=launcher,
    )
    return pipeline, world


def _pool_share_raw(animal: Animal) -> int:
    """Return the amount of the token in its first pool, in smallest units."""
    return _SUPPLY_RAW * animal.pool_pct // 100


def _share_stables(
    pipeline: Pipeline, venues: Venues, deployer: Address, receivers: tuple[Address, ...]
) -> None:
    for stable in venues.stables:
        for receiver in receivers:
            pipeline.call(
                stable.address,
                "transfer(address,uint256)",
                *(receiver, _STABLE_SHARE_USD * 10**stable.decimals),
                sender=deployer,
            )


def _seed_anchors(pipeline: Pipeline, venues: Venues, deployer: Address) -> None:
    """Create pools between the anchors, as on a real chain."""
    dollar, tether = venues.stables
    approve_stables(pipeline, venues, deployer)

    def sides(usd: int, quote: Address, quote_raw: int) -> Sides:
        return Sides(
            token=dollar.address,
            token_raw=usd * 10**dollar.decimals,
            quote=quote,
            quote_raw=quote_raw,
            owner=deployer,
        )

    weth = venues.wrapped_native.address
    seed(pipeline, venues, "v2", sides(600_000, weth, native_worth(600_000)))
    seed(pipeline, venues, "v3", sides(300_000, weth, native_worth(300_000)))
    tether_raw = 500_000 * 10**tether.decimals
    seed(pipeline, venues, "solid_stable", sides(500_000, tether.address, tether_raw))


class Zoo:
    """Deploys the tokens of one owner and seeds their pools."""

    def __init__(self, pipeline: Pipeline, venues: Venues, owner: Address) -> None:
        self._pipeline = pipeline
        self._venues = venues
        self._owner = owner
        self._keeper = named_account("keeper")
        self._holders = tuple(named_account(f"holder {number}") for number in range(_HOLDERS))
        self._implementation = pipeline.deploy("UpgradeableToken", sender=owner)
        self._pair_creation = pipeline.creation("UniswapV2Pair").hex()

    def build(self, node: AnvilNode, animals: Sequence[Animal]) -> tuple[ZooToken, ...]:
        """Deploy the tokens, and wait until they are mined."""
        approve_stables(self._pipeline, self._venues, self._owner)
        placed = [
            self._place(animal, liquidity_to=BURN if animal.liquidity == "burnt" else None)
            for animal in animals
        ]
        self._pipeline.flush()
        node.rpc_batch(
            [
                RpcRequest("anvil_setBalance", (account, hex(ETHER)))
                for account in (*self._holders, self._keeper)
            ]
        )
        pools = fetch_addresses(node, self._venues, placed)
        return tuple(
            self._describe(animal, token, pool)
            for animal, (token, _), pool in zip(animals, placed, pools, strict=True)
        )

    def place(self, node: AnvilNode, animal: Animal, *, opener: Address) -> ZooToken:
        """Put one more token on the chain, in any venue, and wait until it stands.

        Its owner keeps the liquidity. A token that knows its pool gets to know the one it will
        have: a pair whose address follows from the token's, V4's manager, else a pool that `opener`
        makes before the token is there.
        """
        self._pipeline.flush()
        pair = None
        if animal.extra == "pair" and animal.venue == "v4":
            pair = self._venues.v4.factory
        elif animal.extra == "pair" and animal.venue not in PAIRS:
            pair = self._open(node, animal, opener)
        token, pool = self._place(animal, pair)
        self._pipeline.flush()
        (pool,) = fetch_addresses(node, self._venues, [(token, pool)])
        return self._describe(animal, token, pool)

    def _open(self, node: AnvilNode, animal: Animal, opener: Address) -> Address:
        """Return the pool of the next token."""
        token = self._pipeline.next_address(self._owner)
        sides = msgspec.structs.replace(self._sides(animal, token), opener=opener)
        pool = open_concentrated(
            self._pipeline, self._venues, animal.venue, sides, hooks=self._hook(animal)
        )
        self._pipeline.flush()
        return fetch_addresses(node, self._venues, [(token, pool)])[0].address

    def _describe(self, animal: Animal, token: Address, pool: Pool) -> ZooToken:
        return ZooToken(
            key=animal.key,
            trait=animal.trait,
            address=token,
            symbol=animal.symbol,
            decimals=animal.decimals,
            pool=pool,
            owner=self._owner,
            holders=self._holders,
            keeper=self._keeper if animal.extra == "keeper" else None,
        )

    def _place(
        self,
        animal: Animal,
        pair: Address | None = None,
        *,
        liquidity_to: Address | None = None,
    ) -> tuple[Address, Pool]:
        """Create a token and its pool. `pair` None: a token that needs its pair gets the future
        address. `liquidity_to`: as in Sides."""
        token = self._create(animal, pair)
        pool = seed(
            self._pipeline,
            self._venues,
            animal.venue,
            msgspec.structs.replace(self._sides(animal, token), liquidity_to=liquidity_to),
            hooks=self._hook(animal),
        )
        for holder in self._holders:
            self._call(token, "transfer(address,uint256)", holder, _SUPPLY_RAW // 100)
        if animal.renounced:
            self._call(token, "renounceOwnership()")
        return token, pool

    def _create(self, animal: Animal, pair: Address | None) -> Address:
        name = f"Demo {animal.symbol.title()}"
        if animal.form == "bytes32":
            return self._deploy(animal.contract)
        if animal.form == "plain":
            extras: tuple[Address, ...] = ()
            if animal.extra == "pair":
                token = self._pipeline.next_address(self._owner)
                extras = (pair or self._future_pair(animal, token),)
            elif animal.extra == "keeper":
                extras = (self._keeper,)
            return self._deploy(animal.contract, name, animal.symbol, *extras)
        token = self._create_front(animal)
        self._call(token, "initialize(string,string,address)", name, animal.symbol, self._owner)
        return token

    def _create_front(self, animal: Animal) -> Address:
        if animal.form == "proxy":
            return self._deploy("Proxy1967", self._implementation)
        if animal.form == "beacon":
            return self._deploy("BeaconProxy", self._deploy("Beacon", self._implementation))
        self._call(self._venues.clones, "clone(address)", self._implementation)
        return created_address(self._venues.clones, 1)  # a contract's nonces begin with 1

    def _sides(self, animal: Animal, token: Address) -> Sides:
        quote, quote_raw = self._quote(animal)
        return Sides(
            token=token,
            token_raw=_pool_share_raw(animal),
            quote=quote,
            quote_raw=quote_raw,
            owner=self._owner,
        )

    def _hook(self, animal: Animal) -> Address:
        venues = self._venues
        hooks = {
            "fee": venues.fee_hook,
            "trap": venues.trap_hook,
            "input": venues.input_hook,
            "dynamic": venues.dynamic_hook,
            "router": venues.router_hook,
        }
        return hooks[animal.hook] if animal.hook else ZERO_ADDRESS

    def _quote(self, animal: Animal) -> tuple[Address, int]:
        if animal.quote == "native":
            return self._venues.wrapped_native.address, native_worth(animal.quote_usd)
        stable = self._venues.stables[0 if animal.quote == "usdc" else 1]
        return stable.address, animal.quote_usd * 10**stable.decimals

    def _future_pair(self, animal: Animal, token: Address) -> Address:
        """Return the pair of a token that does not exist yet."""
        lower, upper = sorted((token, self._quote(animal)[0]))
        packed = bytes.fromhex(lower[2:] + upper[2:])
        factory = self._venues.dex_of(animal.venue).factory
        if animal.venue == "v2":
            return created2_address(factory, salt=keccak(packed), creation=self._pair_creation)
        stable = animal.venue == "solid_stable"
        creation = self._pipeline.creation("SolidPair", lower, upper, stable).hex()
        return created2_address(factory, salt=keccak(packed + bytes([stable])), creation=creation)

    def _deploy(self, name: str, *values: object) -> Address:
        return self._pipeline.deploy(name, *values, sender=self._owner)

    def _call(self, to: Address, signature: str, *values: object) -> None:
        self._pipeline.call(to, signature, *values, sender=self._owner)
