"""Tokens and routers that would fool a quote or a check of a trade, with their honest doubles."""

from pathlib import Path

from assay.demo.compile import Artifacts, compile_sources
from assay.demo.layout import VenueKey, ZooToken
from assay.demo.zoo_token import Animal
from tests.harness.chain.transactions import Chain

_FOLDER = Path(__file__).parent / "contracts"
_BASE = Path(__file__).parents[3] / "assay" / "demo" / "contracts"


def load_traps() -> Artifacts:
    """The contracts of `quotes`, which are built on those of the zoo."""
    base = (_BASE / "zoo" / "base").glob("*.sol")
    sources = {path.relative_to(_BASE).as_posix(): path.read_text() for path in sorted(base)}
    return compile_sources(
        sources | {path.name: path.read_text() for path in sorted(_FOLDER.glob("*.sol"))}
    )


def with_traps(chain: Chain) -> Chain:
    """The same chain, where traps can be deployed and placed."""
    return Chain(chain.node, chain.world, chain.artifacts | load_traps())


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    venue: VenueKey = "v2",
    quote_usd: int = 200_000,
    pool_pct: int = 20,
    knows_pair: bool = True,
) -> ZooToken:
    """Place one token with a deep pool, most of whose supply is outside of it."""
    is_plain = contract == "HonestToken" or not knows_pair
    return chain.place(
        Animal(
            key=contract,
            trait="",
            symbol="EXIT",
            contract=contract,
            extra=None if is_plain else "pair",
            venue=venue,
            quote_usd=quote_usd,
            pool_pct=pool_pct,
        )
    )
