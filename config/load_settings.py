"""Loader of the settings of a deployment: defaults, then overlay settings.toml, then environment.

The settings are declared in `config.settings`.
"""

import ipaddress
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints
from urllib.parse import urlsplit

import msgspec

from config.object_store import read_object_store
from config.setting import SettingRow, rows_of
from config.settings import ApiSettings, IndexerSettings, MetricsSettings, Settings
from config.sign_in import load_oidc_client
from config.store_address import LAKE_VARIABLE, read_address
from config.toml import decode, load_toml, walk
from core.errors import ConfigError
from core.process.secret import Secret

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

SETTINGS: tuple[SettingRow, ...] = tuple(rows_of(Settings))
"""All settings, in the order of the settings page."""

_ROWS = {row.name: row for row in SETTINGS}
_FILE_ROWS = {name: row for name, row in _ROWS.items() if row.default is not None}
_FILE_TYPES = {"store": Annotated[str, msgspec.Meta(min_length=1)]}
"""Types in files, of settings whose value is converted."""

_DEFAULTS = "built-in defaults"


def _file_struct() -> type[msgspec.Struct]:
    """Return a struct of those fields of Settings that files and single variables can set."""
    hints = get_type_hints(Settings, include_extras=True)
    names = [
        name
        for name in Settings.__struct_fields__
        if any(key == name or key.startswith(f"{name}.") for key in _FILE_ROWS)
    ]
    fields = [(name, _FILE_TYPES.get(name, hints[name])) for name in names]
    return msgspec.defstruct(
        "_Files", fields, frozen=True, kw_only=True, forbid_unknown_fields=True
    )


_Files = _file_struct()


def load_settings(env: Mapping[str, str]) -> Settings:
    """Merge defaults, the overlay's settings.toml and the environment; the last one wins.

    An empty variable counts as unset. Unknown variables are ignored: some platforms set other
    ASSAY_... ones for a service of that name. Raises ConfigError with the file, or `environment`,
    and the key.
    """
    overlay = _overlay(env)
    layers = [(_DEFAULTS, {name: row.default for name, row in _FILE_ROWS.items()})]
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
        values = msgspec.structs.asdict(files)
        _check(values, origin)
    except ConfigError as error:
        if error.key.startswith("job["):
            raise _named(error, merged["job"]) from error
        row = _ROWS.get(error.key)
        if error.source != ENVIRONMENT or not row or not row.env:
            raise
        raise ConfigError(source=ENVIRONMENT, key=row.env, reason=error.reason) from error
    lake = env.get(LAKE_VARIABLE) or None
    values["store"] = read_address(
        values["store"], lake, source=origin["store"], objects=read_object_store(env)
    )
    return Settings(
        **values,
        lake=lake,
        overlay=overlay,
        billing_secret=_secret(env, "ASSAY_BILLING_SECRET"),
        signing_key=_secret(env, "ASSAY_SIGNING_KEY"),
        redis_url=_redis_url(env),
        etherscan_key=_secret(env, "ASSAY_ETHERSCAN_KEY"),
        oidc=load_oidc_client(env, source=ENVIRONMENT),
        rpc_urls=_rpc_urls(env),
        metrics_token=_metrics_token(env, values["metrics"]),
    )


def _secret(env: Mapping[str, str], name: str) -> Secret | None:
    text = env.get(name)
    return Secret(text) if text else None


def _metrics_token(env: Mapping[str, str], metrics: MetricsSettings) -> Secret | None:
    token = _secret(env, "ASSAY_METRICS_TOKEN")
    if token and metrics.address:
        raise ConfigError(
            source=ENVIRONMENT,
            key="ASSAY_METRICS_TOKEN",
            reason="guards /metrics at the API's address, but metrics.address names a separate one",
        )
    return token


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
    loaded = load_toml(path)
    jobs = loaded.pop("job", None)
    values = dict(walk(loaded))
    if jobs is not None:
        values["job"] = jobs
    for name in values:
        if name not in _FILE_ROWS:
            row = _ROWS.get(name)
            reason = f"can only be set by {row.env}" if row else "is not a known key"
            raise ConfigError(source=str(path), key=name, reason=reason)
    return str(path), values


def _named(error: ConfigError, jobs: object) -> ConfigError:
    """Return an error about one of the jobs with the name of that job."""
    at = int(error.key.removeprefix("job[").partition("]")[0])
    job = jobs[at] if isinstance(jobs, list | tuple) and at < len(jobs) else None
    name = job.get("name") if isinstance(job, dict) else None
    reason = error.reason if name is None else f"{error.reason} (in the job {name!r})"
    return ConfigError(source=error.source, key=error.key, reason=reason)


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


def _check(values: Mapping[str, Any], origin: Mapping[str, str]) -> None:
    """Check the constraints that types cannot express."""
    indexer: IndexerSettings = values["indexer"]
    if indexer.initial_log_range > indexer.max_log_range:
        raise ConfigError(
            source=origin["indexer.initial_log_range"],
            key="indexer.initial_log_range",
            reason=f"is above indexer.max_log_range, {indexer.max_log_range}",
        )
    for name in _OUTSIDE_URLS:
        table, key = name.split(".")
        url = getattr(values[table], key)
        if url and not url.startswith(("http://", "https://")):
            raise ConfigError(
                source=origin[name], key=name, reason="expects an http(s):// address, or nothing"
            )
    api: ApiSettings = values["api"]
    for at, proxy in enumerate(api.trusted_proxies):
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
