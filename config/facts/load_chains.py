"""Loader of chain facts: built-in `chains/<slug>.toml`, merged with the deployment's overlay."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, get_args

import msgspec

from config.facts.chain import (
    Anchor,
    BlockNumber,
    Chain,
    Clock,
    Dex,
    Listing,
    Locker,
    Oracle,
    Permit2,
)
from config.facts.launchpad import Launchpad, Registry
from config.load_settings import ENVIRONMENT
from config.settings import Settings
from config.toml import SourceOf, decode, decode_address, load_toml
from core.errors import ConfigError
from core.evm.primitives import Address

BUILT_IN = Path(__file__).parent.parent / "chains"

_Id = Annotated[int, msgspec.Meta(ge=1)]
_BlockTime = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Alias = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_-]*\Z")]
_Explorer = Annotated[str, msgspec.Meta(pattern=r"\A(https://[a-z0-9][a-z0-9.-]*[a-z0-9])?\Z")]
_LAST_KEY = re.compile(r"(?P<name>\w+)(?:\[\d+\])?$")


class _ChainTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: _Id
    slug: _Text
    aliases: tuple[_Alias, ...] = ()
    display_name: _Text
    block_time_s: _BlockTime
    clock: Clock
    native_symbol: _Text
    explorer: _Explorer = ""
    finality_blocks: BlockNumber
    start_block: BlockNumber | None = None


class _ChainFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    chain: _ChainTable
    wrapped_native: Anchor
    stable: tuple[Anchor, Anchor]
    oracle: Oracle
    permit2: Permit2 | None = None
    listing: Listing = Listing()
    dex: tuple[Dex, ...] = ()
    launchpad: tuple[Launchpad, ...] = ()
    locker: tuple[Locker, ...] = ()


def load_chains(overlay: Path | None) -> tuple[Chain, ...]:
    """Return all supported chains, in order of chain id.

    In an overlay file scalar keys replace, and a list (aliases, stable, dex, launchpad, locker)
    replaces the built-in list whole. Raises ConfigError with the file and the key, also for a name
    that two chains claim.
    """
    slugs = [path.stem for path in sorted(BUILT_IN.glob("*.toml"))]
    folder = overlay / "chains" if overlay else None
    for path in sorted(folder.glob("*.toml")) if folder else ():
        if path.stem not in slugs:
            raise ConfigError(
                source=str(path),
                key="chain.slug",
                reason=f"{path.stem} is not a supported chain; those are {', '.join(slugs)}",
            )
    loaded = [_load_chain(slug, folder) for slug in slugs]
    _check_names(loaded)
    return tuple(sorted((chain for chain, _ in loaded), key=lambda chain: chain.id))


def choose_enabled(chains: Sequence[Chain], settings: Settings) -> tuple[Chain, ...]:
    """Return the chains that this deployment has an endpoint for.

    Raises ConfigError where endpoints are given for a chain id that no supported chain has.
    """
    known = sorted(chain.id for chain in chains)
    for chain_id in settings.rpc_urls:
        if chain_id not in known:
            raise ConfigError(
                source=ENVIRONMENT,
                key=f"ASSAY_RPC_{chain_id}",
                reason=f"no supported chain has this id; those are {', '.join(map(str, known))}",
            )
    return tuple(chain for chain in chains if chain.id in settings.rpc_urls)


def _check_names(loaded: Sequence[tuple[Chain, SourceOf]]) -> None:
    """Raise ConfigError for a name of two chains. What an overlay names is at fault, if any is."""
    claims = [
        (source_of(key), key, name, chain.slug)
        for chain, source_of in loaded
        for key, names in (
            ("chain.slug", (chain.slug,)),
            ("chain.id", (str(chain.id),)),
            ("chain.aliases", chain.aliases),
        )
        for name in names
    ]
    owners: dict[str, str] = {}
    for source, key, name, slug in sorted(claims, key=lambda claim: not _is_built_in(claim[0])):
        if name in owners:
            raise ConfigError(
                source=source, key=key, reason=f"{name} is also that of {owners[name]}"
            )
        owners[name] = slug


def _is_built_in(source: str) -> bool:
    return Path(source).parent == BUILT_IN


def _overlay_file(slug: str, folder: Path | None) -> Path | None:
    path = folder / f"{slug}.toml" if folder else None
    return path if path and path.is_file() else None


def _load_chain(slug: str, folder: Path | None) -> tuple[Chain, SourceOf]:
    """Load one chain, with the file of each of its keys."""
    built_in_path = BUILT_IN / f"{slug}.toml"
    overlay_path = _overlay_file(slug, folder)
    values = load_toml(built_in_path)
    over = load_toml(overlay_path) if overlay_path else {}

    def source_of(key: str) -> str:
        return str(overlay_path if _has(over, key) else built_in_path)

    merged = {**values, **{name: _merge(values.get(name), over[name]) for name in over}}
    file = decode(_lower_addresses(merged, source_of), _ChainFile, source_of=source_of)
    if file.chain.slug != slug:
        raise ConfigError(
            source=source_of("chain.slug"),
            key="chain.slug",
            reason=f"must be {slug}, the name of the file",
        )
    for key, first in _twins(file):
        raise ConfigError(source=source_of(key), key=key, reason=f"is the same as {first}")
    chain = Chain(
        id=file.chain.id,
        slug=file.chain.slug,
        aliases=file.chain.aliases,
        display_name=file.chain.display_name,
        block_time_s=file.chain.block_time_s,
        clock=file.chain.clock,
        native_symbol=file.chain.native_symbol,
        explorer=file.chain.explorer,
        finality_blocks=file.chain.finality_blocks,
        start_block=file.chain.start_block,
        wrapped_native=file.wrapped_native,
        stables=file.stable,
        oracle=file.oracle,
        permit2=file.permit2,
        listing=file.listing,
        dexes=file.dex,
        launchpads=file.launchpad,
        lockers=file.locker,
    )
    return chain, source_of


def _merge(built_in: object, over: object) -> object:
    if isinstance(built_in, dict) and isinstance(over, dict):
        return {**built_in, **over}
    return over


def _has(over: dict[str, object], key: str) -> bool:
    """True if the overlay sets a key. A list that it replaces counts whole, with its missing
    keys."""
    top, _, rest = key.partition(".")
    table = over.get(top.partition("[")[0])
    if isinstance(table, dict):
        return not rest or rest in table
    return table is not None


def _twins(file: _ChainFile) -> Iterator[tuple[str, str]]:
    """Yield duplicate keys, each with the first: one token as two anchors, one factory as two
    venues, two equal platform entries, one contract as two lockers."""
    seen: dict[Address, str] = {file.wrapped_native.address: "wrapped_native.address"}
    for at, anchor in enumerate(file.stable):
        key = f"stable[{at}].address"
        if anchor.address in seen:
            yield key, seen[anchor.address]
        seen[anchor.address] = key
    factories: dict[Address, str] = {}
    for at, dex in enumerate(file.dex):
        key = f"dex[{at}].factory"
        if dex.factory in factories:
            yield key, factories[dex.factory]
        factories[dex.factory] = key
    for at, pad in enumerate(file.launchpad):
        first = file.launchpad.index(pad)
        if first < at:
            yield f"launchpad[{at}].slug", f"launchpad[{first}].slug"
    lockers: dict[Address, str] = {}
    for at, locker in enumerate(file.locker):
        key = f"locker[{at}].contracts"
        for contract in locker.contracts:
            if contract in lockers:
                yield key, lockers[contract]
            lockers[contract] = key


def _address_fields() -> frozenset[str]:
    """Return the names of the keys that hold addresses, read from the types."""
    return frozenset(
        field.name
        for struct in (Anchor, Oracle, Dex, Launchpad, Registry, Locker)
        for field in msgspec.structs.fields(struct)
        if _mentions_address(field.type)
    )


def _mentions_address(kind: object) -> bool:
    return kind is Address or any(_mentions_address(part) for part in get_args(kind))


_ADDRESS_FIELDS = _address_fields()


def _lower_addresses(values: object, source_of: SourceOf, key: str = "") -> object:
    """Return the values with every address checked and in lower case."""
    if isinstance(values, dict):
        return {
            name: _lower_addresses(value, source_of, f"{key}.{name}" if key else name)
            for name, value in values.items()
        }
    if isinstance(values, list):
        return [
            _lower_addresses(value, source_of, f"{key}[{at}]") for at, value in enumerate(values)
        ]
    last = _LAST_KEY.search(key)
    if last and last["name"] in _ADDRESS_FIELDS:
        return decode_address(values, key=key, source_of=source_of)
    return values
