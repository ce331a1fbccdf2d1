"""Traps of trade conditions and their honest doubles: compiled, placed, with a second pool."""

from pathlib import Path

from assay.demo.compile import compile_sources
from assay.demo.layout import Sides, VenueKey, ZooToken
from assay.demo.seeding import seed
from assay.demo.transaction_pipeline import Pipeline
from assay.demo.zoo_token import Animal
from tests.harness.chain.transactions import Chain

_FOLDER = Path(__file__).parent / "contracts"
_BASE = Path(__file__).parents[3] / "assay" / "demo" / "contracts"


def with_traps(chain: Chain) -> Chain:
    """The same chain, where these tokens can be deployed and placed."""
    base = sorted((_BASE / "zoo" / "base").glob("*.sol"))
    sources = {path.relative_to(_BASE).as_posix(): path.read_text() for path in base}
    sources |= {path.name: path.read_text() for path in sorted(_FOLDER.glob("*.sol"))}
    return Chain(chain.node, chain.world, chain.artifacts | compile_sources(sources))


def place(chain: Chain, contract: str, *, knows_pair: bool = False, pool_pct: int = 80) -> ZooToken:
    """Place one token in a pair of fifteen thousand dollars."""
    return chain.place(
        Animal(
            key=contract,
            trait="",
            symbol="CND",
            contract=contract,
            extra="pair" if knows_pair else None,
            pool_pct=pool_pct,
        )
    )


def add_pool(chain: Chain, token: ZooToken, venue: VenueKey) -> None:
    """Open a second, shallower pool with the owner's tokens."""
    pipeline = Pipeline(chain.node, chain.artifacts)
    sides = Sides(
        token=token.address,
        token_raw=chain.balance(token.address, token.owner) // 2,
        quote=chain.world.venues.wrapped_native.address,
        quote_raw=10**18,
        owner=token.owner,
    )
    seed(pipeline, chain.world.venues, venue, sides)
    pipeline.flush()
