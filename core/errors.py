"""The error hierarchy of the project: caller, upstream and internal errors.

AssayError
├── CallerError                the caller's doing; has an HTTP status and maybe an error code
│   ├── InvalidAddressError
│   ├── QueryError             an analyst's SQL is wrong, may not be run, or meets a bound
│   └── TokenRefusedError      the gate refused the token, with one of the specification's codes
├── UpstreamError              a node or another service did not answer; worth a retry
│   └── WrongChainError        the node answers for another chain; not worth one
└── InternalError              ours
    ├── ConfigError            a configuration file or variable is wrong: file, key, reason
    ├── MissingExtraError      packages are not installed that only an option needs
    └── StoreError             a store file cannot be opened, read or written: path, reason
"""

from typing import Literal

RefusalCode = Literal[
    "invalid_address", "burn_address", "not_a_contract", "not_a_token", "invalid_token_data"
]

QueryLimit = Literal["memory", "time", "rows", "bytes"]


class AssayError(Exception):
    """Root of all errors that this project raises on purpose."""


class CallerError(AssayError):
    """The caller's input or the requested object is at fault."""

    status: int = 422
    code: str | None = None


class TokenRefusedError(CallerError):
    """The requested address is not a token that can be analysed."""

    def __init__(self, *, code: RefusalCode, reason: str, age_s: float = 0.0) -> None:
        """`age_s`: seconds since it was found, elsewhere; an answer may be only so old."""
        super().__init__(reason)
        self.code: RefusalCode = code
        self.reason = reason
        self.age_s = age_s


class InvalidAddressError(TokenRefusedError):
    """Not 0x and 40 hex digits."""

    def __init__(self, *, text: str) -> None:
        shown = text if len(text) <= 66 else text[:63] + "..."  # noqa: PLR2004 - a hash still fits
        super().__init__(code="invalid_address", reason=f"{shown!r} is not an EVM address")


class QueryError(CallerError):
    """An analyst's SQL is wrong, would write, reads what is not in the store, or takes too much."""

    def __init__(self, *, reason: str, limit: QueryLimit | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.limit = limit
        """The bound it met. None: none."""


class UpstreamError(AssayError):
    """An external service did not answer, or answered nonsense. A later try may succeed."""

    def __init__(self, *, service: str, reason: str) -> None:
        super().__init__(f"{service}: {reason}")
        self.service = service
        self.reason = reason
        self.chain_id: int | None = None
        """Chain of the request, set by the layer that knows it. None: not known."""


class WrongChainError(UpstreamError):
    """An endpoint serves another chain than the one it is configured for."""

    def __init__(self, *, service: str, expected: int, got: int) -> None:
        super().__init__(service=service, reason=f"serves chain id {got}, expected {expected}")
        self.expected = expected
        self.got = got


class InternalError(AssayError):
    """A fault of this project or of how it is deployed."""


class ConfigError(InternalError):
    """A setting or a configuration file is wrong."""

    def __init__(self, *, source: str, key: str, reason: str) -> None:
        super().__init__(f"{source}: {key}: {reason}")
        self.source = source
        self.key = key
        self.reason = reason


class MissingExtraError(InternalError):
    """Missing packages that a wheel installs as an extra."""

    def __init__(self, *, extra: str, package: str) -> None:
        super().__init__(f"needs the extra `{extra}`: the package {package} is not installed")
        self.extra = extra


class StoreError(InternalError):
    """The store or the ledger cannot be opened, read or written.

    Nothing of the failed transaction was kept, unless `reason` allows for the opposite. The store
    works again once the cause (a full disk, another owner) is gone.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
