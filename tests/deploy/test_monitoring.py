"""Protects dashboards and alerts: Prometheus takes them, and each alert rises when it should.

tests/service/test_service.py and tests/fleet/test_deployments.py compare their metrics with those
of running processes.
"""

import subprocess
from pathlib import Path

import msgspec
import pytest

from tests.harness.debian_programs import DebianProgram, find_promtool
from tests.harness.deploy.deploy_files import ALONE, DEPLOY, FLEET, PROMETHEUS, dashboard, rules

pytestmark = pytest.mark.process

DASHBOARDS = sorted(path.name for path in (DEPLOY / "grafana").iterdir())


@pytest.fixture(scope="module")
def promtool() -> DebianProgram:
    found = find_promtool()
    if found is None:
        pytest.skip("promtool cannot be had here")
    return found


@pytest.mark.parametrize("name", ["prometheus.yml", "fleet.yml"])
def test_prometheus_takes_the_configuration(promtool: DebianProgram, name: str) -> None:
    run(promtool, "check", "config", name)


def test_prometheus_takes_what_it_does_with_pods(promtool: DebianProgram, tmp_path: Path) -> None:
    """Debian's is built without a client of Kubernetes: pods are replaced by a fixed target."""
    read = msgspec.yaml.decode((PROMETHEUS / "kubernetes.yml").read_bytes())
    (job,) = read["scrape_configs"]
    assert [found["role"] for found in job.pop("kubernetes_sd_configs")] == ["pod"]
    job["static_configs"] = [{"targets": ["pod:9464"]}]
    read["rule_files"] = [str(PROMETHEUS / name) for name in read["rule_files"]]
    path = tmp_path / "kubernetes.yml"
    path.write_bytes(msgspec.yaml.encode(read))
    run(promtool, "check", "config", str(path))


@pytest.mark.parametrize("name", [ALONE, FLEET])
def test_alerts_rise_when_they_should_and_only_then(promtool: DebianProgram, name: str) -> None:
    run(promtool, "test", "rules", f"{name}.rules.test.yml")


@pytest.mark.parametrize("name", [ALONE, FLEET])
def test_every_alert_has_a_test_of_its_own(name: str) -> None:
    tests = msgspec.yaml.decode((PROMETHEUS / f"{name}.rules.test.yml").read_bytes())
    raised = {
        case["alertname"]
        for test in tests["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert raised == {rule["alert"] for rule in rules(name)}


@pytest.mark.parametrize("name", DASHBOARDS)
def test_prometheus_takes_the_queries_of_a_dashboard(
    promtool: DebianProgram, tmp_path: Path, name: str
) -> None:
    queries = [
        {"record": f"panel:{number}", "expr": query.replace("$chain", ".*")}
        for number, query in enumerate(dashboard(name))
    ]
    path = tmp_path / "panels.yml"
    path.write_bytes(msgspec.yaml.encode({"groups": [{"name": "panels", "rules": queries}]}))
    run(promtool, "check", "rules", str(path))


def run(promtool: DebianProgram, *arguments: str) -> None:
    done = subprocess.run(
        [promtool.path, *arguments],
        cwd=PROMETHEUS,
        env=promtool.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
