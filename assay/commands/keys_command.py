"""assay keys: create, list and revoke API keys."""

import os
import time
from contextlib import closing

import click
import msgspec

from config.load_settings import load_settings
from config.plans import load_plans
from core.process.terminal import printable
from sql.accounts.ledger import Ledger


@click.group("keys")
def keys_command() -> None:
    """API keys. Example: assay keys create --plan pro --label "trading bot" """


@keys_command.command()
@click.option("--plan", required=True, help="Name of a plan in config/plans.toml.")
@click.option("--label", required=True, help="User or purpose of the key.")
@click.option("--operator", is_flag=True, help="Allow it to manage the jobs of the service.")
def create(plan: str, label: str, operator: bool) -> None:
    """Create a key and print it, this once. Example: assay keys create --plan pro --label bot"""
    plans = load_plans()
    if plan not in plans:
        raise click.BadParameter(f"one of {', '.join(plans)}", param_hint="--plan")  # noqa: TRY003
    with closing(Ledger.of_store(load_settings(os.environ).store)) as ledger:
        new = ledger.create_key(
            plans[plan], label=label, now_s=int(time.time()), is_operator=operator
        )
    click.echo(new.plaintext)


@keys_command.command("list")
def list_keys() -> None:
    """List all keys, without their secrets. Example: assay keys list"""
    with closing(Ledger.of_store(load_settings(os.environ).store)) as ledger:
        for row in ledger.list_keys():
            click.echo(printable(msgspec.json.encode(row).decode()))


@keys_command.command()
@click.argument("key_id", type=int)
def revoke(key_id: int) -> None:
    """Revoke a key immediately. Example: assay keys revoke 3"""
    with closing(Ledger.of_store(load_settings(os.environ).store)) as ledger:
        if not ledger.revoke(key_id, now_s=int(time.time())):
            raise _no_valid_key(key_id)
    click.echo(f"revoked {key_id}")


@keys_command.command()
@click.argument("key_id", type=int)
@click.option("--off", is_flag=True, help="Make it an ordinary key again.")
def operator(key_id: int, off: bool) -> None:
    """Allow a key, and its account, to manage jobs. Example: assay keys operator 3"""
    with closing(Ledger.of_store(load_settings(os.environ).store)) as ledger:
        if not ledger.set_operator(key_id, now_s=int(time.time()), is_operator=not off):
            raise _no_valid_key(key_id)
    click.echo(f"{key_id} is {'an ordinary key' if off else 'an operator key'}")


def _no_valid_key(key_id: int) -> click.BadParameter:
    return click.BadParameter(f"there is no valid key {key_id}", param_hint="KEY_ID")
