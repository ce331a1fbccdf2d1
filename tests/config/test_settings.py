"""Protects the layers of settings, the published plans and burn set, and the clients of sign-in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.burn import BURN_ADDRESSES, load_burn_addresses
from config.load_settings import SETTINGS, load_settings
from config.plans import load_plans
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


# --- plans and burn -----------------------------------------------------------------------------

# The specification, "Trial key limits", and decisions.md, "Keys, plans, sign-in", as
# (burst in 10 s, minute, day, month, lifetime, days, may refresh).
PLANS = {
    "trial": (5, 20, 25, None, 100, 14, False),
    "developer": (20, 120, 5_000, 100_000, None, 365, False),
    "pro": (100, 1_000, 100_000, 2_000_000, None, None, False),
    "enterprise": (500, 6_000, 1_000_000, 20_000_000, None, None, True),
    "admin": (None, None, None, None, None, None, True),
}


def test_plans_are_as_decided() -> None:
    loaded = {
        name: (
            plan.burst_limit,
            plan.per_minute,
            plan.per_day,
            plan.per_month,
            plan.lifetime,
            plan.expires_after_days,
            plan.may_refresh,
        )
        for name, plan in load_plans().items()
    }
    assert loaded == PLANS
    assert {plan.burst_window_s for plan in load_plans().values()} == {10, None}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[[plan]]\nname = "a"', "plan[0].may_refresh"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\nper_hour = 1', "plan[0].per_hour"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\nper_day = 0', "plan[0].per_day"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\nburst_limit = 5', "plan[0].burst_window_s"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\n' * 2, "plan[1].name"),
    ],
)
def test_a_mistake_in_the_plans_names_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "plans.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_plans(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)


def test_the_burn_set_has_the_five_addresses() -> None:
    assert len(BURN_ADDRESSES) == 5
    assert sum(int(address, 16) <= 1 for address in BURN_ADDRESSES) == 2
    assert sum("dead" in address for address in BURN_ADDRESSES) == 3


def test_a_mistake_in_the_burn_set_names_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "burn.toml"
    path.write_text('addresses = ["0xdead"]')
    with pytest.raises(ConfigError) as caught:
        load_burn_addresses(path)
    assert (caught.value.source, caught.value.key) == (str(path), "addresses[0]")


# --- sign in ------------------------------------------------------------------------------------

WHOLE = {
    "ASSAY_OIDC_ISSUER": "https://issuer.example/realm/",
    "ASSAY_OIDC_CLIENT_ID": "assay",
    "ASSAY_OIDC_CLIENT_SECRET": "hush-hush",
    "ASSAY_PUBLIC_URL": "https://assay.example/",
}


def test_a_whole_client() -> None:
    client = load_settings(WHOLE).oidc
    assert client is not None
    assert client.issuer == "https://issuer.example/realm/"
    assert client.public_url == "https://assay.example"
    assert client.is_secure
    assert "hush" not in repr(load_settings(WHOLE))


def test_without_a_secret_it_is_a_public_client() -> None:
    client = load_settings({**WHOLE, "ASSAY_OIDC_CLIENT_SECRET": ""}).oidc
    assert client is not None
    assert client.client_secret is None


def test_without_an_issuer_there_is_none() -> None:
    assert load_settings({**WHOLE, "ASSAY_OIDC_ISSUER": ""}).oidc is None


@pytest.mark.parametrize("url", ["http://localhost:9000", "http://127.0.0.1:1", "http://[::1]:1"])
def test_http_within_one_machine(url: str) -> None:
    client = load_settings({**WHOLE, "ASSAY_OIDC_ISSUER": url, "ASSAY_PUBLIC_URL": url}).oidc
    assert client is not None
    assert not client.is_secure


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("ASSAY_OIDC_CLIENT_ID", ""),
        ("ASSAY_PUBLIC_URL", ""),
        ("ASSAY_PUBLIC_URL", "http://assay.example"),
        ("ASSAY_PUBLIC_URL", "https://assay.example/below"),
        ("ASSAY_PUBLIC_URL", "https://Assay.example"),
        ("ASSAY_PUBLIC_URL", "assay.example"),
        ("ASSAY_PUBLIC_URL", "https://[broken"),
        ("ASSAY_OIDC_ISSUER", "http://issuer.example"),
        ("ASSAY_OIDC_ISSUER", "https://user:password@issuer.example"),
        ("ASSAY_OIDC_ISSUER", "https://issuer.example/?realm=1"),
        ("ASSAY_OIDC_ISSUER", "file:///etc/issuer"),
    ],
)
def test_half_a_client_or_an_open_way_does_not_start(key: str, text: str) -> None:
    with pytest.raises(ConfigError) as found:
        load_settings({**WHOLE, key: text})
    assert found.value.key == key
    assert found.value.source == "environment"
