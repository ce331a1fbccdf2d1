"""Protects the manifests: Kubernetes knows their fields, and Assay their settings."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.routes.health import get_health, get_ready
from tests.harness.deploy.process_checks import (
    check_locked,
    check_no_secret,
    check_process,
    check_roles,
)
from tests.harness.fleet.deployed_process import (
    KUBERNETES,
    Manifest,
    container_of,
    deployments,
    kustomize,
    kustomized_processes,
    named,
)
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

SECRETS = """
ASSAY_STORE=postgresql://assay:s3cret@postgres:5432/assay
ASSAY_REDIS=redis://:s3cret@valkey:6379/0
ASSAY_RPC_1=https://node.example
AWS_ACCESS_KEY_ID=assay
AWS_SECRET_ACCESS_KEY=s3cret
POSTGRES_PASSWORD=s3cret
VALKEY_PASSWORD=s3cret
"""
OF_THE_PARTS = {"postgres", "valkey", "s3"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> list[Manifest]:
    return kustomize("base", SECRETS, tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def tryout(tmp_path_factory: pytest.TempPathFactory) -> list[Manifest]:
    return kustomize("tryout", SECRETS, tmp_path_factory.mktemp("tryout"))


def pods(manifests: list[Manifest]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and template of everything that creates pods."""
    for manifest in manifests:
        spec = manifest.get("spec", {})
        if manifest["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            yield manifest["metadata"]["name"], spec["template"]


def test_kubernetes_knows_every_field(tryout: list[Manifest], tmp_path: Path) -> None:
    paths = []
    for number, manifest in enumerate(tryout):  # the base is in it, and the back-up
        path = tmp_path / f"{number}.yaml"
        path.write_bytes(msgspec.yaml.encode(manifest))
        paths.append(path)
    program = Path(sys.executable).parent / "kubernetes-validate"
    done = subprocess.run(
        [program, "--strict", *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = {manifest["kind"] for manifest in tryout}
    assert kinds >= {"Deployment", "StatefulSet", "CronJob", "Service", "PodDisruptionBudget"}
    assert "HorizontalPodAutoscaler" in kinds


def test_the_base_has_each_role_and_no_secret(base: list[Manifest]) -> None:
    check_roles(kustomized_processes(base), each=1)
    assert "Secret" not in {manifest["kind"] for manifest in base}
    example = (KUBERNETES / "tryout" / "secrets.env.example").read_text(encoding="utf-8")
    names = {line.partition("=")[0] for line in SECRETS.split()}
    check_no_secret(example, names - {"AWS_ACCESS_KEY_ID"})
    assert names == {
        line.partition("=")[0] for line in example.splitlines() if line and line[0] != "#"
    }


def test_processes_start_with_what_the_manifests_say(tryout: list[Manifest]) -> None:
    for process in kustomized_processes(tryout):
        settings = check_process(process, overlay=KUBERNETES / "base")
        container = container_of(named(tryout, "Deployment", process.name))
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert ports == {
            "http": settings.port,
            "metrics": int(settings.metrics.address.rpartition(":")[2]),
        }
        (settings_mount,) = (
            mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "settings"
        )
        assert process.environment["ASSAY_CONFIG"] == settings_mount
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        assert container["image"] == f"assay:{project['project']['version']}"


def test_probes_ask_for_routes_that_every_process_has(base: list[Manifest]) -> None:
    for deployment in deployments(base):
        container = container_of(deployment)
        alive = {container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe")}
        assert alive == get_health.paths
        assert {container["readinessProbe"]["httpGet"]["path"]} == get_ready.paths


def test_a_new_process_is_ready_before_an_old_one_is_stopped(base: list[Manifest]) -> None:
    for deployment in deployments(base):
        rolling = deployment["spec"]["strategy"]["rollingUpdate"]
        assert (rolling["maxSurge"], rolling["maxUnavailable"]) == (1, 0)


def test_there_are_two_of_each_and_one_may_be_taken(base: list[Manifest]) -> None:
    for deployment in deployments(base):
        name, spec = deployment["metadata"]["name"], deployment["spec"]
        labels = spec["template"]["metadata"]["labels"]
        role = labels["app.kubernetes.io/component"]
        assert container_of(deployment)["args"][-1] == role
        assert spec["selector"]["matchLabels"].items() <= labels.items()
        budget = named(base, "PodDisruptionBudget", name)["spec"]
        (spread,) = spec["template"]["spec"]["topologySpreadConstraints"]
        for selector in (budget["selector"], spread["labelSelector"]):
            assert selector["matchLabels"] == spec["selector"]["matchLabels"]
        scaled = [one["spec"] for one in base if one["kind"] == "HorizontalPodAutoscaler"]
        (least,) = [
            one["minReplicas"] for one in scaled if one["scaleTargetRef"]["name"] == name
        ] or [spec["replicas"]]
        assert least == 2
        assert budget["minAvailable"] < least


def test_prometheus_finds_each_role_by_its_pods(base: list[Manifest]) -> None:
    read = msgspec.yaml.decode((ROOT / "deploy/prometheus/kubernetes.yml").read_bytes())
    (job,) = read["scrape_configs"]
    port, role, _ = job["relabel_configs"]
    label = role["source_labels"][0].removeprefix("__meta_kubernetes_pod_label_")
    (selected,) = job["kubernetes_sd_configs"][0]["selectors"]
    for deployment in deployments(base):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        by_meta_name = {re.sub(r"\W", "_", name): value for name, value in labels.items()}
        assert by_meta_name[label] == container_of(deployment)["args"][-1]
        name, _, value = selected["label"].partition("=")
        assert labels[name] == value
        assert port["regex"] in {one["name"] for one in container_of(deployment)["ports"]}


def test_services_lead_to_pods(tryout: list[Manifest]) -> None:
    templates = dict(pods(tryout))
    for manifest in tryout:
        if manifest["kind"] != "Service":
            continue
        selector = manifest["spec"]["selector"].items()
        (found,) = (
            template
            for template in templates.values()
            if selector <= template["metadata"]["labels"].items()
        )
        (container,) = found["spec"]["containers"]
        offered = {port["name"] for port in container["ports"]}
        offered |= {port["containerPort"] for port in container["ports"]}
        for port in manifest["spec"]["ports"]:
            assert port.get("targetPort", port["port"]) in offered


def test_pods_may_do_no_more_than_they_have_to(tryout: list[Manifest]) -> None:
    """Restrictions of the namespace's label, and a read-only root file system."""
    labels = named(tryout, "Namespace", "assay")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    found = dict(pods(tryout))
    assert (
        found.keys()
        == {"assay-follow", "assay-analyse", "assay-api", "assay-backup"} | OF_THE_PARTS
    )
    for template in found.values():
        spec = template["spec"]
        check_locked(spec, {"automountServiceAccountToken": False})
        wanted = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        check_locked(spec["securityContext"], wanted)
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            wanted = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
            check_locked(container["securityContext"], wanted)
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
