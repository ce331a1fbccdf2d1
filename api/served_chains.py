"""Supported chains, and which of them this deployment serves."""

from api.deps import ApiDeps
from api.error_answers import ChainNotServedError, InvalidInputError, InvalidItem
from api.formats.shape_building import Shape


class ServedChain(Shape, frozen=True, kw_only=True):
    """One supported chain."""

    chain: str
    """Slug."""
    chain_id: int
    name: str
    is_served: bool
    """False: this deployment has no node for it, so calls about it give 503."""


def list_chains(deps: ApiDeps) -> tuple[ServedChain, ...]:
    """Return every supported chain."""
    return tuple(
        ServedChain(
            chain=chain.slug,
            chain_id=chain.id,
            name=chain.display_name,
            is_served=chain.slug in deps.served,
        )
        for chain in deps.chains
    )


def find_chain(deps: ApiDeps, named: str, *, asked_in: str) -> str:
    """Return the slug of a chain named by slug or id.

    Raises InvalidInputError for one that is not supported, ChainNotServedError for one that is not
    served here.
    """
    slug = next((c.slug for c in deps.chains if named in (c.slug, str(c.id))), None)
    if slug is None:
        known = ", ".join(f"{c.slug} ({c.id})" for c in deps.chains)
        raise InvalidInputError(
            InvalidItem(
                loc=(asked_in, "chain"), msg=f"Unknown chain; one of {known}.", type="unknown_chain"
            )
        )
    if slug not in deps.served:
        raise ChainNotServedError(slug=slug)
    return slug
