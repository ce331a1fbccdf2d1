"""Protects dashboard and alerts: Prometheus takes them, and each alert rises when it should.

tests/chain/test_service.py holds their metrics against those of a running service.
"""

import subprocess
from pathlib import Path

import msgspec
import pytest

from harness.promtool import find_promtool
from tests.deploy.deployed import PROMETHEUS, RULE_TESTS, dashboard_queries, rules


@pytest.fixture(scope="module")
def promtool() -> Path:
    found = find_promtool()
    if found is None:
        pytest.skip("promtool cannot be had here")
    return found


def test_prometheus_takes_the_configuration(promtool: Path) -> None:
    run(promtool, "check", "config", "prometheus.yml")


def test_alerts_rise_when_they_should_and_only_then(promtool: Path) -> None:
    run(promtool, "test", "rules", "assay.rules.test.yml")


def test_every_alert_has_a_test_of_its_own() -> None:
    tests = msgspec.yaml.decode(RULE_TESTS.read_bytes())
    raised = {
        case["alertname"]
        for test in tests["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert raised == {rule["alert"] for rule in rules()}


def test_prometheus_takes_the_queries_of_the_dashboard(promtool: Path, tmp_path: Path) -> None:
    queries = [
        {"record": f"panel:{number}", "expr": query.replace("$chain", ".*")}
        for number, query in enumerate(dashboard_queries())
    ]
    path = tmp_path / "panels.yml"
    path.write_bytes(msgspec.yaml.encode({"groups": [{"name": "panels", "rules": queries}]}))
    run(promtool, "check", "rules", str(path))


def run(promtool: Path, *arguments: str) -> None:
    done = subprocess.run(
        [promtool, *arguments], cwd=PROMETHEUS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
