"""Work of `assay serve`: follower, analyser and API on one store."""

import asyncio
import os
from collections.abc import Sequence

from assay.commands.runs.stores import open_store
from assay.service.roles import choose_roles
from assay.service.run_service import run_service
from config.load_settings import load_settings
from core.process.allocator import share_one_arena


def run_serve(host: str | None, port: int | None, roles: Sequence[str]) -> None:
    """Serve until SIGINT or SIGTERM. None: host or port of the settings. No `roles`: all roles.

    Raises ConfigError, StoreError.
    """
    share_one_arena()
    settings = load_settings(os.environ)
    chosen = choose_roles(roles, settings.store)
    open_store(settings.store).close()  # creates or migrates the store, and checks the lake
    chosen_port = settings.port if port is None else port
    asyncio.run(run_service(settings, host=host or settings.host, port=chosen_port, roles=chosen))
