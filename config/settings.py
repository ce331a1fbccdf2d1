"""Typed settings of a deployment: defaults, then overlay settings.toml, then environment.

Names, defaults and help texts are in `settings.toml` only.
"""

import ipaddress
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

import msgspec

from config.sign_in import OidcClient, load_oidc_client
from config.toml import decode, load_toml, walk
from core.errors import ConfigError
from core.rpc.limits import RpcLimits
from core.secret import Secret, mask_url

BUILT_IN = Path(__file__).parent / "settings.toml"
OVERLAY_NAME = "settings.toml"

ENVIRONMENT = "environment"
_RPC_VARIABLE = re.compile(r"^ASSAY_RPC_(?P<chain_id>.+)$")
_SCHEMES = frozenset({"http", "https", "ws", "wss"})
_REDIS_SCHEMES = frozenset({"redis", "rediss"})

_OUTSIDE_URLS = (
    "market_data.dexscreener_url",
    "market_data.geckoterminal_url",
    "market_data.defillama_url",
    "sources.sourcify_url",
    "sources.etherscan_url",
)

Positive = Annotated[int, msgspec.Meta(ge=1)]
NonNegativeSeconds = Annotated[float, msgspec.Meta(gt=0)]


class SettingRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the settings table."""

    name: str
    """Dotted name: table and key."""
    help: str
    default: Any = None
    """None: set by the environment only."""
    env: str | None = None
    """Environment variable that overrides every file. None: files only."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    setting: tuple[SettingRow, ...]


def load_setting_rows() -> tuple[SettingRow, ...]:
    """Return the settings table, as documented. Raises ConfigError."""
    return decode(load_toml(BUILT_IN), _Table, source_of=lambda _: str(BUILT_IN)).setting


_ROWS = {row.name: row for row in load_setting_rows()}
_FILE_ROWS = {name: row for name, row in _ROWS.items() if row.default is not None}


def _default(name: str) -> Any:
    return msgspec.field(default_factory=lambda: _frozen(_ROWS[name].default))


class RpcSettings(RpcLimits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of JSON-RPC requests to nodes."""

    timeout_s: NonNegativeSeconds = _default("rpc.timeout_s")
    attempts: Positive = _default("rpc.attempts")
    max_batch: Positive = _default("rpc.max_batch")
    max_response_bytes: Positive = _default("rpc.max_response_bytes")


class IndexerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of chain following."""

    poll_s: NonNegativeSeconds = _default("indexer.poll_s")
    initial_log_range: Positive = _default("indexer.initial_log_range")
    max_log_range: Positive = _default("indexer.max_log_range")
    commit_rows: Positive = _default("indexer.commit_rows")
    history_logs: Positive = _default("indexer.history_logs")
    history_requests: Annotated[int, msgspec.Meta(ge=0)] = _default("indexer.history_requests")
    trades_kept_s: Annotated[float, msgspec.Meta(ge=86_400)] = _default("indexer.trades_kept_s")
    """At least the day whose trades serve as prices."""


class AnalysisSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of token analysis."""

    wait_s: Annotated[float, msgspec.Meta(ge=0)] = _default("analysis.wait_s")
    simulated_pools: Annotated[int, msgspec.Meta(ge=5)] = _default("analysis.simulated_pools")
    """At least the five deepest: decisions.md, "Readings of the specification"."""
    min_liquidity_usd: Annotated[float, msgspec.Meta(ge=0)] = _default("analysis.min_liquidity_usd")
    refresh_after_s: NonNegativeSeconds = _default("analysis.refresh_after_s")
    concurrency: Positive = _default("analysis.concurrency")
    serve_stale_s: NonNegativeSeconds = _default("analysis.serve_stale_s")
    longest_run_s: NonNegativeSeconds = _default("analysis.longest_run_s")
    rounds_every_s: NonNegativeSeconds = _default("analysis.rounds_every_s")
    background_refresh_s: NonNegativeSeconds = _default("analysis.background_refresh_s")
    owner_simulation: bool = _default("analysis.owner_simulation")


class MarketDataSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of market-data services."""

    aggregator: Literal["dexscreener", "defillama"] = _default("market_data.aggregator")
    dexscreener_url: str = _default("market_data.dexscreener_url")
    dexscreener_per_minute: Positive = _default("market_data.dexscreener_per_minute")
    geckoterminal_url: str = _default("market_data.geckoterminal_url")
    geckoterminal_per_minute: Positive = _default("market_data.geckoterminal_per_minute")
    defillama_url: str = _default("market_data.defillama_url")
    defillama_per_minute: Positive = _default("market_data.defillama_per_minute")
    timeout_s: NonNegativeSeconds = _default("market_data.timeout_s")
    cache_s: NonNegativeSeconds = _default("market_data.cache_s")


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the services for verified contract sources."""

    sourcify_url: str = _default("sources.sourcify_url")
    sourcify_per_minute: Positive = _default("sources.sourcify_per_minute")
    etherscan_url: str = _default("sources.etherscan_url")
    etherscan_per_minute: Positive = _default("sources.etherscan_per_minute")
    timeout_s: NonNegativeSeconds = _default("sources.timeout_s")
    cache_s: NonNegativeSeconds = _default("sources.cache_s")


SettingOrigin = Annotated[str, msgspec.Meta(pattern=r"^(\*|https?://[^/\s]+)$")]
"""A site's origin as browsers send it, or * for all."""


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the HTTP API."""

    cache_s: Annotated[float, msgspec.Meta(ge=0, le=120)] = _default("api.cache_s")
    max_cached_bytes: Annotated[int, msgspec.Meta(ge=0)] = _default("api.max_cached_bytes")
    trusted_proxies: tuple[str, ...] = _default("api.trusted_proxies")
    """Networks in CIDR form or single addresses."""
    forwarded_header: Literal["x-forwarded-for", "forwarded"] = _default("api.forwarded_header")
    """One of them only: a header that the proxy does not write may be forged by the caller."""
    cors_origins: tuple[SettingOrigin, ...] = _default("api.cors_origins")


class SignInSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of sign-in."""

    session_s: NonNegativeSeconds = _default("sign_in.session_s")
    timeout_s: NonNegativeSeconds = _default("sign_in.timeout_s")


class _Files(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that files and single variables can set, with all layers merged."""

    store: Annotated[str, msgspec.Meta(min_length=1)]
    host: Annotated[str, msgspec.Meta(min_length=1)]
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)]
    rpc: RpcSettings
    indexer: IndexerSettings
    analysis: AnalysisSettings
    market_data: MarketDataSettings
    sources: SourceSettings
    sign_in: SignInSettings
    api: ApiSettings


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of a deployment, except chain facts."""

    store: Path
    overlay: Path | None
    """Directory with chains/<slug>.toml and settings.toml. None: built-in values only."""
    host: str
    port: int
    """0: any free one."""
    billing_secret: Secret | None
    """None: trial keys are not issued (503)."""
    redis_url: Secret | None
    """None: each process keeps its own rate-limit windows."""
    etherscan_key: Secret | None
    """None: Etherscan is not queried for sources."""
    oidc: OidcClient | None
    """None: nobody can sign in; keys are created with the command line."""
    rpc_urls: dict[int, tuple[str, ...]]
    """Endpoints by chain id, in the order given. A chain without one is not served."""
    rpc: RpcSettings
    indexer: IndexerSettings
    analysis: AnalysisSettings
    market_data: MarketDataSettings
    sources: SourceSettings
    sign_in: SignInSettings
    api: ApiSettings

    @property
    def ledger(self) -> Path:
        """Return the path of the ledger of keys and usage, beside the store."""
        return self.store.with_name(f"{self.store.name}.ledger.sqlite")

    def __repr__(self) -> str:
        """Return the usual repr, with the endpoints' paths and queries masked."""
        shown = {name: getattr(self, name) for name in self.__struct_fields__}
        shown["rpc_urls"] = {
            chain_id: tuple(map(mask_url, urls)) for chain_id, urls in self.rpc_urls.items()
        }
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def load_settings(env: Mapping[str, str]) -> Settings:
    """Merge defaults, the overlay's settings.toml and the environment; the last one wins.

    An empty variable counts as unset. Unknown variables are ignored: some platforms set other
    ASSAY_... ones for a service of that name. Raises ConfigError with the file, or `environment`,
    and the key.
    """
    overlay = _overlay(env)
    layers = [(str(BUILT_IN), {name: row.default for name, row in _FILE_ROWS.items()})]
    if overlay and (overlay / OVERLAY_NAME).is_file():
        layers.append(_overlay_layer(overlay / OVERLAY_NAME))
    layers.append((ENVIRONMENT, dict(_environment_layer(env))))

    merged: dict[str, object] = {}
    origin: dict[str, str] = {}
    for source, values in layers:
        merged |= values
        origin |= dict.fromkeys(values, source)

    try:
        files = decode(_nest(merged), _Files, source_of=lambda key: origin[key.split("[")[0]])
        _check(files, origin)
    except ConfigError as error:
        row = _ROWS.get(error.key)
        if error.source != ENVIRONMENT or not row or not row.env:
            raise
        raise ConfigError(source=ENVIRONMENT, key=row.env, reason=error.reason) from error
    return Settings(
        store=Path(files.store),
        overlay=overlay,
        host=files.host,
        port=files.port,
        billing_secret=_secret(env, "ASSAY_BILLING_SECRET"),
        redis_url=_redis_url(env),
        etherscan_key=_secret(env, "ASSAY_ETHERSCAN_KEY"),
        oidc=load_oidc_client(env, source=ENVIRONMENT),
        rpc_urls=_rpc_urls(env),
        rpc=files.rpc,
        indexer=files.indexer,
        analysis=files.analysis,
        market_data=files.market_data,
        sources=files.sources,
        sign_in=files.sign_in,
        api=files.api,
    )


def _secret(env: Mapping[str, str], name: str) -> Secret | None:
    text = env.get(name)
    return Secret(text) if text else None


def _overlay(env: Mapping[str, str]) -> Path | None:
    text = env.get("ASSAY_CONFIG")
    if not text:
        return None
    if not Path(text).is_dir():
        raise ConfigError(
            source=ENVIRONMENT, key="ASSAY_CONFIG", reason=f"{text} is not a directory"
        )
    return Path(text)


def _overlay_layer(path: Path) -> tuple[str, dict[str, object]]:
    values = dict(walk(load_toml(path)))
    for name in values:
        if name not in _FILE_ROWS:
            row = _ROWS.get(name)
            reason = f"is set by {row.env} alone" if row else "is not a known key"
            raise ConfigError(source=str(path), key=name, reason=reason)
    return str(path), values


def _environment_layer(env: Mapping[str, str]) -> list[tuple[str, object]]:
    layer: list[tuple[str, object]] = []
    for row in _FILE_ROWS.values():
        text = env.get(row.env) if row.env else None
        if not text:
            continue
        if isinstance(row.default, int):
            if not text.isdecimal():
                raise ConfigError(
                    source=ENVIRONMENT, key=str(row.env), reason=f"{text!r} is not a whole number"
                )
            layer.append((row.name, int(text)))
        else:
            layer.append((row.name, text))
    return layer


def _nest(flat: Mapping[str, object]) -> dict[str, object]:
    nested: dict[str, object] = {}
    for name, value in flat.items():
        table, _, key = name.rpartition(".")
        into = cast(dict[str, object], nested.setdefault(table, {})) if table else nested
        into[key] = value
    return nested


def _check(files: _Files, origin: Mapping[str, str]) -> None:
    """Check the constraints that types cannot express."""
    if "://" in files.store:
        raise ConfigError(
            source=origin["store"],
            key="store",
            reason="is a URL; this release keeps its store in a file",
        )
    if files.indexer.initial_log_range > files.indexer.max_log_range:
        raise ConfigError(
            source=origin["indexer.initial_log_range"],
            key="indexer.initial_log_range",
            reason=f"is above indexer.max_log_range, {files.indexer.max_log_range}",
        )
    for name in _OUTSIDE_URLS:
        table, key = name.split(".")
        url = getattr(getattr(files, table), key)
        if url and not url.startswith(("http://", "https://")):
            raise ConfigError(
                source=origin[name], key=name, reason="expects an http(s):// address, or nothing"
            )
    for at, proxy in enumerate(files.api.trusted_proxies):
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            raise ConfigError(
                source=origin["api.trusted_proxies"],
                key=f"api.trusted_proxies[{at}]",
                reason=str(error),
            ) from error


def _redis_url(env: Mapping[str, str]) -> Secret | None:
    url = env.get("ASSAY_REDIS")
    if not url:
        return None
    # Valkey uses Redis's protocol; only the URL scheme differs.
    url = re.sub(r"^valkey(?=s?://)", "redis", url)
    _check_url(url, key="ASSAY_REDIS", schemes=_REDIS_SCHEMES)
    return Secret(url)


def _rpc_urls(env: Mapping[str, str]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for name in sorted(env):
        match = _RPC_VARIABLE.match(name)
        if not match or not env[name].strip():
            continue
        if not match["chain_id"].isdecimal():
            raise ConfigError(source=ENVIRONMENT, key=name, reason="must end in a chain id")
        urls = tuple(url for part in env[name].split(",") if (url := part.strip()))
        for url in urls:
            _check_url(url, key=name)
        found[int(match["chain_id"])] = urls
    return found


def _check_url(url: str, *, key: str, schemes: Collection[str] = _SCHEMES) -> None:
    """Raise ConfigError without repeating the URL: it may contain a provider's key."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ConfigError(
            source=ENVIRONMENT,
            key=key,
            reason=f"expects addresses that begin with one of {', '.join(sorted(schemes))}",
        )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
