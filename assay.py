"""The command line: loads the command that is run, and turns errors into exit codes.

Exit codes: 0 good, 1 our failure, 2 bad usage, 3 the token was refused.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import click
from click.shell_completion import CompletionItem

from core.errors import AssayError, TokenRefusedError
from core.terminal import printable

EXIT_FAILURE = 1
EXIT_REFUSED = 3
EXIT_INTERRUPTED = 130

COMMANDS: Final = {
    "compact": "Move final rows to the lake now, and tidy it up.",
    "demo": "A chain of its own with real exchanges and a zoo of tokens, and the service on top.",
    "index": "Follow a chain, or back-fill a range of it and end.",
    "keys": "API keys.",
    "scan": "Judge one token and print the answer as JSON.",
    "serve": "Follow chains, judge tokens and answer requests, in one process.",
    "sql": "Read-only SQL on the store, also while another process serves from it.",
    "static": "Static analysis of runtime codes: JSON lines in, JSON lines out.",
    "status": "Per chain: head, tip, lag, rows, queue.",
}
"""First sentences of the commands' help. Help and completion show them without an import."""


class LazyCommands(click.Group):
    """Imports a command's module when it is run: help and completion need none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import `commands.<name>_command`. None: there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        return _load(f"{cmd_name}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name, or an option of the group."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=text)
            for name, text in sorted(COMMANDS.items())
            if name.startswith(incomplete)
        ]


def _load(name: str) -> click.Command:
    # numpy's linear algebra, which nobody uses, would start a thread for each core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What modules define lives as long as the process: it is not searched for garbage.
    gc.disable()
    command: click.Command = getattr(import_module(f"commands.{name}"), name)
    gc.freeze()
    gc.enable()
    return command


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Assay: can this token be bought, sold and kept?

    Nodes come from ASSAY_RPC_<chain id>, the store from ASSAY_STORE, an overlay from ASSAY_CONFIG.
    """
    from config.log import configure_log  # noqa: PLC0415 - help and completion log nothing

    configure_log()


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: one command; our errors become one line and an exit code."""
    # polars has system calls go on after Ctrl-C: who waits for input would not notice it
    signal.siginterrupt(signal.SIGINT, True)
    try:
        sys.exit(cli.main(arguments, standalone_mode=False))
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except TokenRefusedError as error:
        click.echo(f"refused: {error.code}: {printable(error.reason)}", err=True)
        sys.exit(EXIT_REFUSED)
    except AssayError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(EXIT_FAILURE)


if __name__ == "__main__":
    main()
