"""assay watch: create, list, pause and remove watches of tokens."""

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading

KINDS = ("verdict", "trading", "tax", "owner", "deadline", "liquidity", "flags", "identity")
"""Those of `core.report.notifications`, which help and completion show without importing it."""


@click.group("watch")
def watch_command() -> None:
    """Watches: notify webhooks of changes of tokens. A service on the store sends the messages.

    Example: assay watch add Listings eth 0x6B17...1d0F --webhook https://bot.example.com/assay
    """


@watch_command.command()
@click.argument("name")
@click.argument("chain", type=CHAIN)
@click.argument("addresses", nargs=-1, required=True)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice((*KINDS, "baseline")),
    help="Kind of change to notify of; may be repeated.  [default: all but baseline]",
)
@click.option("--webhook", help="URL that receives the messages. Without it they are polled.")
@click.option("--key", "key_id", type=int, help="Number of the API key that owns it.")
@click.option("--to", "watch_id", type=int, help="Add the tokens to this existing watch.")
def add(
    name: str,
    chain: str,
    addresses: tuple[str, ...],
    kinds: tuple[str, ...],
    webhook: str | None,
    key_id: int | None,
    watch_id: int | None,
) -> None:
    """Create a watch and print it with its secret, which is shown only once. Limits of plans do not
    apply.

    Example: assay watch add Listings eth 0x6B17...1d0F --webhook https://bot.example.com/assay
    """
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    if watch_id is None:
        run_watch.add_watch(
            name, chain, addresses, kinds=kinds or KINDS, url=webhook, key_id=key_id
        )
    else:
        run_watch.add_to_watch(watch_id, chain, addresses)


@watch_command.command()
@click.argument("name")
@click.argument("chain", type=CHAIN)
@click.option("--webhook", required=True, help="URL that receives the messages.")
@click.option(
    "--after",
    type=click.IntRange(0, (1 << 63) - 1),
    help="Begin after this line; 0: with the oldest one.  [default: from now on]",
)
@click.option("--key", "key_id", type=int, help="Number of the API key that owns it.")
def feed(name: str, chain: str, webhook: str, after: int | None, key_id: int | None) -> None:
    """Create a watch of the feed of a chain. Its secret is shown only once.

    Example: assay watch feed Listings eth --webhook https://bot.example.com/assay
    """
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.add_feed(name, chain, url=webhook, after=after, key_id=key_id)


@watch_command.command("list")
def list_watches() -> None:
    """List all watches, one JSON object per line. Example: assay watch list"""
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.list_all()


@watch_command.command()
@click.argument("watch_id", type=int)
def show(watch_id: int) -> None:
    """Show a watch, its tokens and its last messages. Example: assay watch show 3"""
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.show_one(watch_id)


@watch_command.command()
@click.argument("watch_id", type=int)
def pause(watch_id: int) -> None:
    """Pause a watch: it sends nothing until it is resumed. Example: assay watch pause 3"""
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.pause(watch_id)


@watch_command.command()
@click.argument("watch_id", type=int)
def resume(watch_id: int) -> None:
    """Resume a paused or failing watch. Example: assay watch resume 3"""
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.resume(watch_id)


@watch_command.command()
@click.argument("watch_id", type=int)
def remove(watch_id: int) -> None:
    """Delete a watch with its messages. Example: assay watch remove 3"""
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.remove(watch_id)


@watch_command.command("test")
@click.argument("watch_id", type=int)
def send_test(watch_id: int) -> None:
    """Queue a test message, which a running service sends. Example: assay watch test 3"""
    with loading():
        from assay.commands.runs import run_watch  # noqa: PLC0415 - not for help and completion

    run_watch.send_test(watch_id)
