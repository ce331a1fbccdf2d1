"""The command line, and the one place where the layers meet.

Exit codes: 0 good, 1 our failure, 2 bad usage, 3 the token was refused.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import IO

import click
import msgspec
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from analysis.desk import Desk
from analysis.knowledge import NoKnowledge
from analysis.scan import ChainScanner, scan
from analysis.schedule import Rounds
from analysis.service import Analyser
from analysis.shelf import StoreShelf
from analysis.static.stream import examine_lines
from api.app import create_app
from api.serve import serve as serve_api
from api.serve import stop_on_signals
from api.service import ApiDeps, ChainState
from config.chains import Chain
from config.errors import AssayError, ConfigError, TokenRefusedError, UpstreamError, WrongChainError
from config.load import load_chains
from config.plans import load_plans
from config.settings import Settings, load_settings
from demo.embedded import EmbeddedChain, run_embedded_chain
from indexer.backfill import backfill
from indexer.follow import Follower, follow
from indexer.rpc import RpcClient
from sql.console import run_sql, serve_console
from sql.ledger import Ledger
from sql.store import Store

EXIT_FAILURE = 1
EXIT_REFUSED = 3
EXIT_INTERRUPTED = 130

_OUT = Console(soft_wrap=True)
_LOG = structlog.get_logger("assay")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Assay: can this token be bought, sold and kept?

    Nodes come from ASSAY_RPC_<chain id>, the store from ASSAY_STORE, an overlay from ASSAY_CONFIG.
    """


def main() -> None:
    """Entry point: one command; our errors become one line and an exit code."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.exceptions.Abort:
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except TokenRefusedError as error:
        click.echo(f"refused: {error.code}: {error.reason}", err=True)
        sys.exit(EXIT_REFUSED)
    except AssayError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_FAILURE)
