"""Protects who people sign in with: a whole client, or none, and nothing over an open network."""

import pytest

from config.load_settings import load_settings
from core.errors import ConfigError

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
