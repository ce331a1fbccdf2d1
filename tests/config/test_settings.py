"""Protects the layers of settings: precedence, and mistakes named by file and key."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.load_settings import SETTINGS, load_settings
from config.store_address import FileAddress, PostgresAddress
from core.errors import ConfigError
from core.process.secret import Secret

DATABASE = "postgresql://somebody:5ecr3t@db.example/assay"


def overlay(folder: Path, text: str) -> dict[str, str]:
    (folder / "settings.toml").write_text(text, encoding="utf-8")
    return {"ASSAY_CONFIG": str(folder)}


def test_without_anything_said_the_table_holds() -> None:
    settings = load_settings({})
    for row in SETTINGS:
        table, _, key = row.name.rpartition(".")
        holder = getattr(settings, table) if table else settings
        value = None if holder is None else getattr(holder, key)
        if row.default is None:
            assert not value
        elif row.name == "store":
            assert value == FileAddress(Path(row.default))
        elif isinstance(row.default, tuple):
            assert value == tuple(row.default)
        else:
            assert value == row.default


def test_the_overlay_wins_over_the_table_and_the_environment_over_both(tmp_path: Path) -> None:
    env = overlay(tmp_path, 'host = "0.0.0.0"\nport = 9000\n[rpc]\ntimeout_s = 2\n')
    settings = load_settings(env | {"ASSAY_PORT": "9001", "ASSAY_HOST": ""})
    assert (settings.host, settings.port) == ("0.0.0.0", 9001)  # noqa: S104 - only compared
    assert settings.rpc.timeout_s == 2
    assert settings.rpc.attempts == load_settings({}).rpc.attempts
    assert settings.overlay == tmp_path


def test_endpoints_come_from_the_environment_in_the_order_given() -> None:
    settings = load_settings(
        {"ASSAY_RPC_1": "https://a.example/k, ws://b.example:8546,", "ASSAY_RPC_56": " "}
    )
    assert settings.rpc_urls == {1: ("https://a.example/k", "ws://b.example:8546")}


def test_unrelated_variables_are_left_alone() -> None:
    assert load_settings({"ASSAY_SERVICE_HOST": "10.0.0.1"}) == load_settings({})


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("[rpc]\ntimout_s = 1", "rpc.timout_s", "not a known key"),
        ("[rpc]\ntimeout_s = 0", "rpc.timeout_s", "> 0"),
        ('[rpc]\nattempts = "4"', "rpc.attempts", "got `str`"),
        ("rpc = 3", "rpc", "not a known key"),
        ("[[rpc]]\nattempts = 4", "rpc[0].attempts", "not a known key"),
        ("[analysis]\nsimulated_pools = 4", "analysis.simulated_pools", ">= 5"),
        ("[api]\ncache_s = 121", "api.cache_s", "<= 120"),
        ('[api]\ntrusted_proxies = ["10.0.0.0/33"]', "api.trusted_proxies[0]", "10.0.0.0/33"),
        (
            "[indexer]\ninitial_log_range = 20000",
            "indexer.initial_log_range",
            "above indexer.max_log_range",
        ),
        ("port = 65536", "port", "<= 65535"),
        ('host = ""', "host", "length >= 1"),
        ('store = "s3://bucket/x"', "store", "expects a path, or postgresql://"),
        ('overlay = "/elsewhere"', "overlay", "can only be set by ASSAY_CONFIG"),
        ('billing_secret = "x"', "billing_secret", "can only be set by ASSAY_BILLING_SECRET"),
        ("port =", "the file", "Invalid value"),
    ],
)
def test_a_mistake_in_the_overlay_names_file_and_key(
    tmp_path: Path, text: str, key: str, reason: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(overlay(tmp_path, text))
    assert caught.value.source == str(tmp_path / "settings.toml")
    assert caught.value.key == key
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("ASSAY_PORT", "eighty", "'eighty' is not a whole number"),
        ("ASSAY_PORT", "tcp://10.0.0.1:80", "not a whole number"),
        ("ASSAY_PORT", "70000", "<= 65535"),
        ("ASSAY_STORE", "redis://u:5ecr3t@host/db", "expects a path, or postgresql://"),
        ("ASSAY_STORE", "postgresql://u:5ecr3t@host:99999/db", "expects a path, or postgresql://"),
        ("ASSAY_STORE", "postgresql://u:5ecr3t@host", "expects a path, or postgresql://"),
        ("ASSAY_LAKE", "lake", "only for a store in PostgreSQL"),
        ("ASSAY_CONFIG", "/no/such/folder", "not a directory"),
        ("ASSAY_RPC_mainnet", "http://a.example", "must end in a chain id"),
        ("ASSAY_RPC_1", "a.example:8545", "one of http, https, ws, wss"),
        ("ASSAY_RPC_1", "http://", "one of http, https, ws, wss"),
        ("ASSAY_RPC_1", "http://a.example,ipc:///node", "one of http, https, ws, wss"),
        ("ASSAY_RPC_1", "http://a.example:99999", "one of http, https, ws, wss"),
        ("ASSAY_REDIS", "127.0.0.1:6379", "one of redis, rediss"),
        ("ASSAY_REDIS", "http://127.0.0.1", "one of redis, rediss"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(name: str, text: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings({name: text})
    assert (caught.value.source, caught.value.key) == ("environment", name)
    assert "5ecr3t" not in str(caught.value)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("lake", "reason"),
    [
        ({}, "is required for a store in PostgreSQL"),
        ({"ASSAY_LAKE": "gs://bucket/x"}, "expects a folder or s3://"),
        ({"ASSAY_LAKE": "s3:///x"}, "expects a folder or s3://"),
        ({"ASSAY_LAKE": "s3://key:5ecr3t@bucket/x"}, "expects a folder or s3://"),
    ],
)
def test_a_store_in_postgresql_needs_a_place_for_its_lake(
    lake: dict[str, str], reason: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings({"ASSAY_STORE": DATABASE, **lake})
    assert (caught.value.source, caught.value.key) == ("environment", "ASSAY_LAKE")
    assert reason in caught.value.reason
    assert "5ecr3t" not in str(caught.value)


def test_a_store_in_postgresql_is_named_without_its_password() -> None:
    settings = load_settings({"ASSAY_STORE": DATABASE, "ASSAY_LAKE": "s3://bucket/assay"})
    store = settings.store
    assert isinstance(store, PostgresAddress)
    assert (store.url.value, store.lake) == (DATABASE, "s3://bucket/assay")
    assert str(store) == "postgresql://db.example:5432/assay"
    assert "5ecr3t" not in repr(settings)
    other = load_settings({"ASSAY_STORE": DATABASE + "2", "ASSAY_LAKE": "lake"}).store
    assert other.prefix != store.prefix  # two stores do not share locks


@given(st.from_regex(r"[a-z0-9]{12,40}", fullmatch=True))
def test_no_secret_shows_itself(secret: str) -> None:
    settings = load_settings(
        {
            "ASSAY_BILLING_SECRET": secret,
            "ASSAY_REDIS": f"valkeys://user:{secret}@cache.example:6380/1",
            "ASSAY_RPC_1": f"https://user:{secret}@node.example:8545/v3/{secret}?key={secret}",
        }
    )
    assert settings.billing_secret == Secret(secret)
    assert settings.redis_url == Secret(f"rediss://user:{secret}@cache.example:6380/1")
    assert secret not in repr(settings)
    assert secret not in str(settings.billing_secret)
    assert "https://node.example:8545/***" in repr(settings)


def test_a_wrong_endpoint_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings({"ASSAY_RPC_1": "htps://node.example/v3/0123456789abcdef"})
    assert "0123456789abcdef" not in str(caught.value)


def test_every_row_of_the_table_is_one_sentence_and_stands_once() -> None:
    rows = SETTINGS
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.help[0].isupper(), row.name
        assert not row.help.endswith("."), row.name


def test_processes_of_one_overlay_have_metrics_at_addresses_of_their_own(tmp_path: Path) -> None:
    env = overlay(tmp_path, '[metrics]\naddress = "127.0.0.1:9464"\n')
    assert load_settings(env).metrics.address == "127.0.0.1:9464"
    own = env | {"ASSAY_METRICS_ADDRESS": "127.0.0.1:9465"}
    assert load_settings(own).metrics.address == "127.0.0.1:9465"
    with pytest.raises(ConfigError, match="ASSAY_METRICS_ADDRESS"):
        load_settings(env | {"ASSAY_METRICS_ADDRESS": "9465"})
