"""The command line: imports the command that is run, and turns errors into exit codes.

Exit codes: 0 success, 1 failure, 2 bad usage, 3 the token was refused.
"""

import os
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from core.errors import (
    AssayError,
    ConfigError,
    MissingExtraError,
    QueryError,
    RefusalCode,
    StoreError,
    TokenRefusedError,
    UpstreamError,
    WrongChainError,
)
from core.process.low_priority import BEHIND_CALLERS, lower_priority
from core.process.terminal import printable, takes_colours

if TYPE_CHECKING:
    from config.log import LogFormat


LOW_PRIORITY: Final = {"sql", "export"}
"""Commands of analysts, which must not slow the service down."""

EXIT_FAILURE = 1
EXIT_REFUSED = 3
EXIT_INTERRUPTED = 130

COMMANDS: Final = {
    "backtest": "Analyse tokens as of the block before their first trade, and score the verdicts.",
    "backup": "Copy the store to a new FOLDER, also while the service runs.",
    "compact": "Move final rows to the lake now, and clean it up.",
    "demo": "Run an embedded chain with real exchanges and a zoo of tokens, and the service on it.",
    "doctor": "Check nodes and configured facts against the chain.",
    "export": "Export views as Parquet files; each call adds new rows.",
    "index": "Follow a chain, or back-fill a range of it and exit.",
    "jobs": "Scheduled jobs.",
    "keys": "API keys.",
    "move-store": "Move the store in files at PATH to the PostgreSQL database of ASSAY_STORE.",
    "record": "Analyse one token, and write its evidence pack to FILE.",
    "replay": "Run the calls of an evidence pack again, and print the differences.",
    "restore": "Restore the back-up in FOLDER to the store that ASSAY_STORE names.",
    "review": "Analyse the tokens of a token list, and print a report in Markdown.",
    "scan": "Analyse one token and print the report: a card on a terminal, else JSON.",
    "serve": "Follow chains, analyse tokens and serve requests, in one process.",
    "sql": "Run read-only SQL on the store, also while another process serves from it.",
    "static": "Analyse runtime codes statically: JSON lines in, JSON lines out.",
    "status": "Show head, tip, lag, rows, queue, size and growth of each chain.",
    "watch": "Watches: notify webhooks of changes of tokens.",
}
"""First sentences of the commands' help, shown by help and completion without an import."""

MODULES: Final = {
    "token_commands": ("backtest", "record", "replay", "review", "scan", "static"),
    "store_commands": ("backup", "compact", "export", "move-store", "restore", "sql", "status"),
    "service_commands": ("demo", "doctor", "index", "serve"),
    "jobs_command": ("jobs",),
    "keys_command": ("keys",),
    "watch_command": ("watch",),
}
"""Commands by module of `assay.commands`."""


def _configure_log(ctx: click.Context, _: click.Parameter, form: "LogFormat | None") -> None:
    """Configure the log for the command, or for all if `assay` itself has the option."""
    if ctx.resilient_parsing or (form is None and ctx.parent is not None):
        return
    from assay.commands.loading import load_structlog, loading  # noqa: PLC0415 - as the next one

    with loading():
        load_structlog()
        from config.log import configure_log  # noqa: PLC0415 - not for help and completion

    report_dropped = configure_log(form or "text", coloured=takes_colours(sys.stderr, os.environ))
    ctx.call_on_close(report_dropped)


_LOG_FORMAT = click.Option(
    ["--log-format"],
    type=click.Choice(["text", "json"]),
    expose_value=False,
    callback=_configure_log,
    help="Format of log events on standard error, one per line.  [default: text]",
)


def _show_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if not is_wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version  # noqa: PLC0415 - rarely needed

    click.echo(f"assay {version('assay')}")
    ctx.exit()


class LazyCommands(click.Group):
    """Imports the module of a command only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module. None: there is no such command."""
        name = next((name for name, commands in MODULES.items() if cmd_name in commands), None)
        if name is None:
            return None
        module = import_module(f"assay.commands.{name}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        if _LOG_FORMAT not in command.params:
            command.params.append(_LOG_FORMAT)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command, and suggest a similar name for an unknown one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            similar = get_close_matches(args[0], COMMANDS, n=1)
            if not similar:
                raise
            message = f"{error.message} Did you mean {similar[0]!r}?"
            raise click.UsageError(message, ctx=ctx) from error

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


@click.group(
    cls=LazyCommands,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        _LOG_FORMAT,
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Print the version and exit.",
        ),
    ],
)
def cli() -> None:
    """Assay: can this token be bought, sold and kept?

    Nodes come from ASSAY_RPC_<chain id>, the store from ASSAY_STORE, an overlay from ASSAY_CONFIG.

    Example: assay scan eth 0xA0b8...eB48
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: run one command; errors become one line and an exit code."""
    if arguments is None and LOW_PRIORITY.intersection(sys.argv[1:2]):
        lower_priority(BEHIND_CALLERS)  # only as a program: a caller's process keeps its priority
    # Some libraries restart system calls after Ctrl-C: a wait for input would not end.
    signal.siginterrupt(signal.SIGINT, True)
    try:
        sys.exit(cli.main(arguments, prog_name="assay", standalone_mode=False))
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(_example_of(error.ctx.command), err=True)
        sys.exit(error.exit_code)
    except TokenRefusedError as error:
        _print_error(f"refused: {error.code}: {error.reason}", error)
        sys.exit(EXIT_REFUSED)
    except AssayError as error:
        _print_error(f"error: {error}", error)
        sys.exit(EXIT_FAILURE)


def _print_error(text: str, error: AssayError) -> None:
    # DuckDB's errors quote the statement and point into it, over several lines.
    lines = text.splitlines() if isinstance(error, QueryError) else [text]
    for line in lines:
        click.echo(printable(line), err=True)
    if (step := next_step(error)) is not None:
        click.echo(f"next: {step}", err=True)


def _example_of(command: click.Command) -> str:
    """Return the example in a command's help."""
    return " ".join("".join((command.help or "").partition("Example:")[1:]).split())


_NODE = "https://your-node.example"

_CHECK_NODE = "check the node: assay doctor {chain_id}"

_MAKE_STORE = (
    "name the store, or create one: export ASSAY_STORE=/path/to/assay.duckdb; assay index eth"
)

_ANOTHER_PORT = "stop the process that uses it, or choose another port: assay serve --port 8001"

_WITH_EXTRA = (
    "as a tool: uvx --from 'assay[{extra}]' assay ..., or pipx install --force 'assay[{extra}]'"
)

_SMALLER_RESULT = (
    'limit the result: assay sql "select * from v_pools limit 5"; or raise the bound in '
    "settings.toml under [sql]"
)

_AFTER_REFUSALS: dict[RefusalCode, str] = {
    "invalid_address": "an address is 0x and 40 hex digits: assay scan eth 0x6B17...1d0F",
    "burn_address": "name the token's contract: assay scan eth 0x6B17...1d0F",
    "not_a_contract": "try another chain: assay scan base 0x6B17...1d0F",
    "not_a_token": "name the token's contract, not that of a pool or wallet: assay scan eth "
    "0x6B17...1d0F",
}


def next_step(error: AssayError) -> str | None:
    """Suggest what the user can do about an error. None: no suggestion."""
    step: str | None = None
    match error:
        case TokenRefusedError(code=code):
            step = _AFTER_REFUSALS.get(code)
        case QueryError(limit=limit) if limit is not None:
            step = _SMALLER_RESULT
        case WrongChainError(got=got):
            step = f"name the node by the chain it serves: export ASSAY_RPC_{got}={_NODE}"
        case UpstreamError(chain_id=chain_id) if chain_id is not None:
            step = _CHECK_NODE.format(chain_id=chain_id)
        case ConfigError(source="listen address"):
            step = _ANOTHER_PORT
        case ConfigError(key=key) if key.startswith("ASSAY_RPC_"):
            number = key.removeprefix("ASSAY_RPC_")
            step = f"export ASSAY_RPC_{number if number.isdecimal() else 1}={_NODE}"
        case MissingExtraError(extra=extra):
            step = _WITH_EXTRA.format(extra=extra)
        case StoreError(reason=reason) if reason.startswith("there is no such"):
            step = _MAKE_STORE
    return step
