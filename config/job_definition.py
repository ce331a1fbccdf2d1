"""Jobs as configuration and API define them: which tokens, when, what to do."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec

from config.facts.chain import Chain
from core.errors import AssayError, CallerError, InvalidAddressError
from core.evm.primitives import Address, parse_address

JobAction = Literal["refresh", "verify", "export"]
"""Action of a job.

refresh: analyse again. verify: analyse again without anything that is stored or cached: code,
published sources, creator and history. export: add new rows to Parquet files.
"""

LEAST_INTERVAL_S: Final = 10
MOST_INTERVAL_S: Final = 366 * 86_400

_NAME: Final = r"^[a-z0-9][a-z0-9_-]{0,63}(?!\n)$"
_MOST_SQL_CHARS: Final = 20_000
_MOST_LISTED: Final = 10_000

JobName = Annotated[str, msgspec.Meta(pattern=_NAME)]


class JobDefinition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One job: which tokens, when, and what to do with them."""

    name: JobName
    """Its name: lower-case letters, digits, `-` and `_`, at most 64."""
    action: JobAction
    """Action: refresh, verify or export."""
    every_s: Annotated[int, msgspec.Meta(ge=LEAST_INTERVAL_S, le=MOST_INTERVAL_S)] | None = None
    """Seconds from one run to the next. null: `cron` has the schedule."""
    cron: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    """Minute, hour, day of month, month, day of week as in a crontab. null: `every_s` has the
    schedule."""
    time_zone: Annotated[str, msgspec.Meta(max_length=64)] = "UTC"
    """Time zone of `cron`, by its name in the IANA database."""
    tokens: Annotated[tuple[str, ...], msgspec.Meta(max_length=_MOST_LISTED)] = ()
    """Tokens, each as chain/address. Empty: `sql` finds them."""
    sql: Annotated[str, msgspec.Meta(min_length=1, max_length=_MOST_SQL_CHARS)] | None = None
    """A SELECT on the analysts' views with the columns `chain` and `address`. null: `tokens` lists
    them."""
    younger_than_s: Annotated[int, msgspec.Meta(ge=0)] = 0
    """A refresh leaves out tokens whose settled report is younger than this number of seconds."""
    views: Annotated[tuple[str, ...], msgspec.Meta(max_length=100)] = ()
    """Views that an export writes. Empty: all of them."""
    folder: str | None = None
    """Folder below `jobs.export_folder` that an export writes to. null: not an export."""


class JobToken(msgspec.Struct, frozen=True, kw_only=True):
    """One token that a job is about."""

    chain_id: int
    address: Address


class JobInvalidError(CallerError):
    """A job's definition is wrong."""

    def __init__(self, *, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        """Name of the field that is wrong."""
        self.reason = reason


class JobStateError(AssayError):
    """A job is not in a state in which it can be changed like this."""

    def __init__(self, *, name: str, reason: str) -> None:
        super().__init__(f"job {name}: {reason}")
        self.name = name
        self.reason = reason


def parse_tokens(texts: Iterable[str], chains: Mapping[str, Chain]) -> list[JobToken]:
    """Return the tokens of a list, each given as chain/address. Raises JobInvalidError."""
    found = []
    for text in texts:
        chain, _, address = text.partition("/")
        try:
            found.append(_token(chain, address, chains))
        except ValueError as error:
            raise JobInvalidError(key="tokens", reason=f"{text!r}: {error}") from error
    return found


def tokens_of_rows(
    columns: Sequence[str], rows: Iterable[Sequence[object]], chains: Mapping[str, Chain]
) -> list[JobToken]:
    """Return the tokens that a statement gave, by its columns `chain` and `address`.

    `chain` is the id or any name of a chain. Raises JobInvalidError for a missing column, and for
    the first row that names no token.
    """
    names = [column.lower() for column in columns]
    for needed in ("chain", "address"):
        if names.count(needed) != 1:
            reason = f"must return the single column {needed!r}, not {', '.join(columns)}"
            raise JobInvalidError(key="sql", reason=reason)
    chain_at, address_at = names.index("chain"), names.index("address")
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            found.append(_token(row[chain_at], row[address_at], chains))
        except ValueError as error:
            raise JobInvalidError(key="sql", reason=f"row {number}: {error}") from error
    return found


def _token(chain: object, address: object, chains: Mapping[str, Chain]) -> JobToken:
    """Return one token. Raises ValueError."""
    known = chains.get(str(chain).lower())
    if known is None:
        message = f"{chain!r} is not a supported chain"
        raise ValueError(message)
    try:
        return JobToken(chain_id=known.id, address=parse_address(str(address)))
    except InvalidAddressError as error:
        raise ValueError(str(error)) from error
