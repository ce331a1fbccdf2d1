"""Files in deploy/ for Prometheus and Grafana."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

DEPLOY = Path(__file__).parents[3] / "deploy"
_ENDING = re.compile(r"_(bucket|sum|count|total)$")
_METRIC = re.compile(r"\b(assay_[a-z0-9_]+)(?:\{([^}]*)\})?")
_ROLE = re.compile(r'role="(\w+)"')

PROMETHEUS = DEPLOY / "prometheus"
ROLES = ("follow", "analyse", "api")
"""Each has a dashboard."""

ALONE, FLEET = "assay", "assay-fleet"
"""Alerts: of every Assay, and those that a fleet has besides."""


def rules(name: str) -> list[dict[str, Any]]:
    """The alerts of one file."""
    groups = msgspec.yaml.decode((PROMETHEUS / f"{name}.rules.yml").read_bytes())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard(name: str) -> Iterator[str]:
    """The queries of all panels."""
    read = msgspec.json.decode((DEPLOY / "grafana" / name).read_bytes())
    for panel in read["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def metrics_asked_for() -> set[str]:
    """Return the names of our series in the alerts and panels of a single process."""
    queries = [*(rule["expr"] for rule in rules(ALONE)), *dashboard("assay.json")]
    return set().union(*metrics_by_role(queries).values())


def metrics_by_role(queries: Iterable[str]) -> dict[str | None, set[str]]:
    """Return the names of our series in queries, by role. None: any role."""
    found: dict[str | None, set[str]] = defaultdict(set)
    for query in queries:
        for name, labels in _METRIC.findall(query):
            role = _ROLE.search(labels)
            found[role[1] if role else None].add(name)
    return found


def base_name(series: str) -> str:
    """Name of the metric that a series belongs to."""
    return _ENDING.sub("", series)
