"""Invariants of each process of a fleet, however it is started."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from click import Context

from api.serving.serve import GRACE_S
from assay.cli import cli
from config.load_settings import SETTINGS, load_settings
from config.object_store import ENDPOINT, KEY_ID, REGION, SECRET
from config.settings import Settings
from config.store_address import PostgresAddress
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.fleet.deployed_process import DeployedProcess

SPARE_S = 5
"""Time to close stores and write pending rows, after calls have ended."""

_OF_A_PART = {"POSTGRES_PASSWORD", "VALKEY_PASSWORD"}
"""Variables of a Secret that the databases share with Assay."""


def variables() -> set[str]:
    """Names that Assay reads."""
    named = {row.env for row in SETTINGS if row.env and "<" not in row.env}
    return {
        *named,
        *(f"ASSAY_RPC_{chain.id}" for chain in BUILT_IN_CHAINS),
        *(KEY_ID, SECRET, REGION, ENDPOINT),
    }


def check_process(process: DeployedProcess, *, overlay: Path) -> Settings:
    """Return its settings. `overlay`: the folder that it finds as ASSAY_CONFIG."""
    assert process.environment.keys() <= variables() | _OF_A_PART
    at = process.arguments.index("serve")
    assert process.arguments[:at] == ("--log-format", "json")
    program = Context(cli)
    serve = cli.get_command(program, "serve")
    assert serve is not None
    serve_options = serve.make_context("serve", [*process.arguments[at + 1 :]], parent=program)
    assert serve_options.params["roles"] == (process.role,)
    settings = load_settings({**process.environment, "ASSAY_CONFIG": str(overlay)})
    assert isinstance(settings.store, PostgresAddress)
    assert settings.redis_url is not None
    assert settings.rpc_urls
    assert settings.metrics.address
    assert settings.drain_s + GRACE_S + SPARE_S <= process.grace_s
    return settings


def check_roles(processes: Sequence[DeployedProcess], *, each: int) -> None:
    """Assert the number of processes of every role."""
    roles = sorted(process.role for process in processes)
    assert roles == sorted(["analyse", "api", "follow"] * each)


def check_locked(security: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    """A container may do no more than this."""
    assert {name: security.get(name) for name in wanted} == dict(wanted)


def check_no_secret(text: str, names: Collection[str]) -> None:
    """A file of the repository gives none of these a value."""
    for line in text.splitlines():
        name, _, value = line.strip().partition("=")
        assert name not in names or not value or "<" in value, line
