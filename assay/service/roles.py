"""What a process of a fleet does of all that a service does."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from config.store_address import PostgresAddress, StoreAddress
from core.errors import ConfigError

Role = Literal["follow", "analyse", "api"]
"""follow: chains into the store, and its upkeep. analyse: tokens that are due, jobs and messages of
watches. api: requests."""

ALL: Final = "all"
EVERY_ROLE: Final[frozenset[Role]] = frozenset(get_args(Role))


def choose_roles(named: Sequence[str], address: StoreAddress) -> frozenset[Role]:
    """Return the roles of a process; all of them where none is named.

    Raises ConfigError for some of them only on a store in files: that is one process's.
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
