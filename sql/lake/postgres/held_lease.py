"""A lease for as long as a block lasts: taken, renewed by a thread, given up."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

from core.errors import StoreError
from sql.engine.postgres.leases import Leases, LeaseTerm
from sql.engine.postgres.postgres_url import shown_url

_LEASE_S: Final = 5.0
_LOOK_EVERY_S: Final = 0.1


@contextmanager
def held_lease(
    url: str, name: str, *, doing: str, within_s: float, lease_s: float = _LEASE_S
) -> Iterator[LeaseTerm]:
    """Hold a lease; another takes over once this process is silent for `lease_s`.

    `doing` completes "another process" in the error. `within_s`: how long to wait for that process.
    Where the lease is lost meanwhile the block goes on: what it writes has to name the token.
    Raises StoreError, also when another process still holds it then.
    """
    with closing(Leases(url, lease_s=lease_s)) as leases:
        term = _taken(leases, url, name, doing=doing, within_s=within_s)
        ended = threading.Event()
        keeper = threading.Thread(
            target=_keep, args=(leases, term, ended), name="lease", daemon=True
        )
        keeper.start()
        try:
            yield term
        finally:
            ended.set()
            keeper.join()
            # It ends by itself, too.
            with suppress(StoreError):
                leases.give_up(term)


def _taken(leases: Leases, url: str, name: str, *, doing: str, within_s: float) -> LeaseTerm:
    until_s = time.monotonic() + within_s
    while (term := leases.take(name)) is None:
        if time.monotonic() >= until_s:
            raise StoreError(path=shown_url(url), reason=f"another process {doing}")
        time.sleep(_LOOK_EVERY_S)
    return term


def _keep(leases: Leases, term: LeaseTerm, ended: threading.Event) -> None:
    while not ended.wait(leases.lease_s / 3):
        # A server that is gone may be back before somebody else has taken over.
        with suppress(StoreError):
            if not leases.renew(term):
                return
