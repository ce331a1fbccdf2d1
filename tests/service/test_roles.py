"""Protects roles: all in one process by default, separate ones only where they can share."""

from pathlib import Path

import pytest

from assay.service.roles import EVERY_ROLE, choose_roles
from config.store_address import FileAddress, PostgresAddress
from core.errors import ConfigError
from core.process.secret import Secret

FILES = FileAddress(Path("assay.duckdb"))
SHARED = PostgresAddress(
    url=Secret("postgresql://u:p@h/db"), lake="lake", prefix=Path("assay.duckdb")
)


@pytest.mark.parametrize("named", [(), ("all",), ("all", "api"), ("follow", "analyse", "api")])
@pytest.mark.parametrize("address", [FILES, SHARED], ids=["files", "postgresql"])
def test_all_roles_run_on_either_store(
    named: tuple[str, ...], address: FileAddress | PostgresAddress
) -> None:
    assert choose_roles(named, address) == EVERY_ROLE


@pytest.mark.parametrize("named", [("api",), ("follow", "api"), ("analyse", "analyse")])
def test_some_roles_need_a_store_that_can_be_shared(named: tuple[str, ...]) -> None:
    assert choose_roles(named, SHARED) == set(named)
    with pytest.raises(ConfigError, match="PostgreSQL"):
        choose_roles(named, FILES)
