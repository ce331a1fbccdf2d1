"""Separate listener for /metrics."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import start_http_server
from prometheus_client.registry import Collector

from core.errors import ConfigError


@contextmanager
def serving_metrics(metrics: Collector, address: str) -> Iterator[int]:
    """Serve GET /metrics at host:port in separate threads; yield the port. 0: any free one.

    Raises ConfigError when the address cannot be listened on.
    """
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), addr=host.strip("[]"), registry=metrics)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            source="settings", key="metrics.address", reason=f"{address}: {error}"
        ) from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
