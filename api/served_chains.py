"""Supported chains, and which of them this deployment serves."""

from api.deps import ApiDeps
from api.error_answers import ChainNotServedError, InvalidInputError, InvalidItem
from api.formats.shape_building import Shape
from config.facts.chain_names import find_by_name, list_names

CHAIN_HELP = (
    "Slug, chain id (1, 0x1 or, by CAIP-2, eip155:1) or alias, such as eth or base; letter case "
    "ignored"
)


class ServedChain(Shape, frozen=True, kw_only=True):
    """One supported chain."""

    chain: str
    """Slug."""
    chain_id: int
    aliases: tuple[str, ...]
    """Further accepted names of the chain."""
    name: str
    is_served: bool
    """False: this deployment has no node for it, so calls about it give 503."""


def list_chains(deps: ApiDeps) -> tuple[ServedChain, ...]:
    """Return every supported chain."""
    return tuple(
        ServedChain(
            chain=chain.slug,
            chain_id=chain.id,
            aliases=chain.aliases,
            name=chain.display_name,
            is_served=chain.slug in deps.served,
        )
        for chain in deps.chains
    )


def find_chain(deps: ApiDeps, named: str, *, place: str) -> str:
    """Return the slug of a chain by any of its names, letter case ignored.

    Raises InvalidInputError for one that is not supported, ChainNotServedError for one that is not
    served here.
    """
    chain = find_by_name(deps.chains, named)
    if chain is None:
        raise InvalidInputError(
            InvalidItem(
                loc=(place, "chain"),
                msg=f"Unknown chain; one of {list_names(deps.chains)}.",
                type="unknown_chain",
            )
        )
    if chain.slug not in deps.served:
        raise ChainNotServedError(slug=chain.slug)
    return chain.slug
