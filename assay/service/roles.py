"""Roles of a process in a fleet."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from config.store_address import PostgresAddress, StoreAddress
from core.errors import ConfigError

Role = Literal["follow", "analyse", "api"]
"""`follow`: chains into the store, and its upkeep. `analyse`: due tokens, jobs and messages of
watches. `api`: requests."""

ALL: Final = "all"
EVERY_ROLE: Final[frozenset[Role]] = frozenset(get_args(Role))


def choose_roles(named: Sequence[str], address: StoreAddress) -> frozenset[Role]:
    """Return the roles of a process; all of them where none is named.

    Raises ConfigError for single roles on a store in files, which serves only one process.
    """
    wanted = frozenset(get_args(Role)) if not named or ALL in named else frozenset(named)
    roles = frozenset(role for role in EVERY_ROLE if role in wanted)
    if roles != EVERY_ROLE and not isinstance(address, PostgresAddress):
        reason = (
            "roles other than all share their store, so it has to be in PostgreSQL: "
            "set ASSAY_STORE=postgresql://... (docs/operate/fleet.md)"
        )
        raise ConfigError(source="command line", key="--role", reason=reason)
    return roles
