"""The command line, and the one place where the layers meet.

Exit codes: 0 good, 1 our failure, 2 bad usage, 3 the token was refused.
"""

import logging
import sys
from typing import TypeVar

import click
import structlog

from config.errors import AssayError, TokenRefusedError

EXIT_FAILURE = 1
EXIT_REFUSED = 3

T = TypeVar("T")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Assay: can this token be bought, sold and kept?"""


def main() -> None:
    """Entry point: runs one command and turns our errors into one line and an exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except TokenRefusedError as error:
        click.echo(f"refused: {error.code}: {error.reason}", err=True)
        sys.exit(EXIT_REFUSED)
    except AssayError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_FAILURE)


if __name__ == "__main__":
    main()
