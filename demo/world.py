"""Builds the demo's world: anchors, venues and the zoo, on a node that starts empty."""

from eth_utils.crypto import keccak

from config.jsonrpc import RpcRequest
from config.primitives import ZERO_ADDRESS, Address
from demo.anvil import ETHER, AnvilNode
from demo.compile import load_artifacts
from demo.launchpads import build_launchpads
from demo.layout import Pool, Venues, World, ZooToken, named_account, native_worth
from demo.pipeline import Pipeline, created2_address, created_address
from demo.seeding import (
    Sides,
    approve_stables,
    fetch_addresses,
    seed_solid,
    seed_v2,
    seed_v3,
    seed_v4,
)
from demo.venues import deploy_venues
from demo.zoo import ZOO, Animal

_SUPPLY_RAW = 1_000_000 * 10**18
"""Of every token of the zoo, whatever its decimals."""
_HOLDERS = 3
_TRADERS = 4
_STABLE_SHARE_USD = 5_000_000
"""Stables for the owner and for each trader."""


def build_world(node: AnvilNode) -> World:
    """Deploy everything, the same on every empty node of the same chain id.

    Raises ConfigError where the npm packages are missing, CompileError, and
    TransactionFailedError when a transaction does not go through.
    """
    deployer, owner, launcher, *traders = node.accounts()[: 3 + _TRADERS]
    pipeline = Pipeline(node, load_artifacts())
    venues = deploy_venues(node, pipeline, deployer)
    _share_stables(pipeline, venues, deployer, (owner, *traders))
    _seed_anchors(pipeline, venues, deployer)
    tokens = _Zoo(pipeline, venues, owner).build(node)
    launchpads, launched = build_launchpads(pipeline, venues, node.accounts()[-1])
    return World(
        venues=venues,
        tokens=tokens,
        deployer=deployer,
        owner=owner,
        traders=tuple(traders),
        launcher=launcher,
        launchpads=launchpads,
        launched=launched,
    )


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
    """Pools of the anchors among themselves, as a chain has them."""
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
    seed_v2(pipeline, venues, sides(600_000, weth, native_worth(600_000)))
    seed_v3(pipeline, venues, sides(300_000, weth, native_worth(300_000)))
    tether_raw = 500_000 * 10**tether.decimals
    seed_solid(pipeline, venues, sides(500_000, tether.address, tether_raw), stable=True)


class _Zoo:
    """Deploys the tokens of one owner and seeds their pools."""

    def __init__(self, pipeline: Pipeline, venues: Venues, owner: Address) -> None:
        self._pipeline = pipeline
        self._venues = venues
        self._owner = owner
        self._keeper = named_account("keeper")
        self._holders = tuple(named_account(f"holder {number}") for number in range(_HOLDERS))
        self._implementation = pipeline.deploy("UpgradeableToken", sender=owner)
        self._pair_creation = pipeline.creation("UniswapV2Pair").hex()

    def build(self, node: AnvilNode) -> tuple[ZooToken, ...]:
        approve_stables(self._pipeline, self._venues, self._owner)
        placed = [self._place(animal) for animal in ZOO]
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
            for animal, (token, _), pool in zip(ZOO, placed, pools, strict=True)
        )

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

    def _place(self, animal: Animal) -> tuple[Address, Pool]:
        token = self._create(animal)
        pool = self._seed(animal, token)
        for holder in self._holders:
            self._call(token, "transfer(address,uint256)", holder, _SUPPLY_RAW // 100)
        if animal.renounced:
            self._call(token, "renounceOwnership()")
        return token, pool

    def _create(self, animal: Animal) -> Address:
        name = f"Demo {animal.symbol.title()}"
        if animal.form == "bytes32":
            return self._deploy(animal.contract)
        if animal.form == "plain":
            extras: tuple[Address, ...] = ()
            if animal.extra == "pair":
                extras = (self._future_pair(self._pipeline.next_address(self._owner)),)
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

    def _seed(self, animal: Animal, token: Address) -> Pool:
        quote, quote_raw = self._quote(animal)
        sides = Sides(
            token=token,
            token_raw=_SUPPLY_RAW * animal.pool_pct // 100,
            quote=quote,
            quote_raw=quote_raw,
            owner=self._owner,
        )
        if animal.kind == "AmmV3":
            return seed_v3(self._pipeline, self._venues, sides)
        if animal.kind == "AmmV4":
            return seed_v4(self._pipeline, self._venues, sides, hooks=self._hook(animal))
        if animal.kind == "Solid":
            return seed_solid(self._pipeline, self._venues, sides)
        return seed_v2(self._pipeline, self._venues, sides)

    def _hook(self, animal: Animal) -> Address:
        if animal.hook is None:
            return ZERO_ADDRESS
        return self._venues.fee_hook if animal.hook == "fee" else self._venues.trap_hook

    def _quote(self, animal: Animal) -> tuple[Address, int]:
        if animal.quote == "native":
            return self._venues.wrapped_native.address, native_worth(animal.quote_usd)
        stable = self._venues.stables[0 if animal.quote == "usdc" else 1]
        return stable.address, animal.quote_usd * 10**stable.decimals

    def _future_pair(self, token: Address) -> Address:
        """The V2 pair of a token that does not exist yet, with the wrapped native coin."""
        lower, upper = sorted((token, self._venues.wrapped_native.address))
        return created2_address(
            self._venues.v2.factory,
            salt=keccak(bytes.fromhex(lower[2:] + upper[2:])),
            creation=self._pair_creation,
        )

    def _deploy(self, name: str, *values: object) -> Address:
        return self._pipeline.deploy(name, *values, sender=self._owner)

    def _call(self, to: Address, signature: str, *values: object) -> None:
        self._pipeline.call(to, signature, *values, sender=self._owner)
