"""Protects the metrics' own address: it answers scrapes, and is free again after the end."""

import httpx
import pytest
from prometheus_client import CollectorRegistry, Gauge

from assay.service.metrics.metrics_server import serving_metrics
from core.errors import ConfigError


def make_registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Gauge("seven", "Seven", registry=registry).set(7)
    return registry


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_it_answers_scrapes_until_it_ends(host: str) -> None:
    with serving_metrics(make_registry(), f"{host}:0") as port:
        url = f"http://{host}:{port}/metrics"
        assert "seven 7.0" in httpx.get(url).text
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
    with serving_metrics(make_registry(), f"{host}:{port}"):
        assert httpx.get(url).status_code == 200


@pytest.mark.parametrize("address", ["192.0.2.1:0", "127.0.0.1:99999", "no.such.host.invalid:0"])
def test_an_address_that_is_not_ours_is_a_configuration_error(address: str) -> None:
    with (
        pytest.raises(ConfigError, match=r"metrics\.address"),
        serving_metrics(make_registry(), address),
    ):
        pass


def test_a_port_in_use_is_a_configuration_error() -> None:
    with serving_metrics(make_registry(), "127.0.0.1:0") as port:
        second = serving_metrics(make_registry(), f"127.0.0.1:{port}")
        with pytest.raises(ConfigError):
            second.__enter__()
