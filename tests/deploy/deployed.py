"""What deploy/ has for Prometheus and Grafana, for those who test it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

DEPLOY = Path(__file__).parents[2] / "deploy"
_ENDING = re.compile(r"_(bucket|sum|count|total)$")
_METRIC = re.compile(r"\bassay_[a-z0-9_]+")

PROMETHEUS = DEPLOY / "prometheus"
RULE_TESTS = PROMETHEUS / "assay.rules.test.yml"


def rules() -> list[dict[str, Any]]:
    """The alerts."""
    groups = msgspec.yaml.decode((PROMETHEUS / "assay.rules.yml").read_bytes())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard_queries() -> Iterator[str]:
    """The queries of all panels."""
    dashboard = msgspec.json.decode((DEPLOY / "grafana" / "assay.json").read_bytes())
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def metrics_asked_for() -> set[str]:
    """Names of our own series in alerts and panels."""
    queries = [*(rule["expr"] for rule in rules()), *dashboard_queries()]
    return {name for query in queries for name in _METRIC.findall(query)}


def base_name(series: str) -> str:
    """Name of the metric that a series belongs to."""
    return _ENDING.sub("", series)
