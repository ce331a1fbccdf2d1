"""Processes of a fleet as deploy/ would start them, and their run on this machine.

Arguments and environment are read from the output of Docker Compose and kustomize.
"""

import base64
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.fleet.dockerfile import stage_of
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError

DEPLOY = PROJECT_ROOT / "deploy"
COMPOSE = DEPLOY / "docker" / "compose.fleet.yml"
KUBERNETES = DEPLOY / "kubernetes"
IMAGE = "assay"

_PROGRAMS = Path(sys.executable).parent

Manifest = dict[str, Any]
"""One document of a kustomization."""


class DeploymentError(Exception):
    """A tool rejected the files; the message is its output."""


class DeployedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """One process of Assay as it would be started."""

    name: str
    arguments: tuple[str, ...]
    """Arguments of `assay`."""
    environment: dict[str, str]
    """Environment, with the variables of the image."""
    grace_s: int
    """From SIGTERM until it is killed."""

    @property
    def role(self) -> str:
        """Return the one role that it is given."""
        return self.arguments[self.arguments.index("--role") + 1]


def compose(variables: Mapping[str, str], *, file: Path = COMPOSE) -> Manifest:
    """Return Docker Compose's reading of a file, all profiles included.

    `variables`: of fleet.env. Raises DeploymentError.
    """
    command = ("--profile", "*", "-f", str(file), "config", "--format", "json")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    composed: Manifest = msgspec.json.decode(
        _run([str(_PROGRAMS / "docker-compose"), *command], env={**kept, **variables})
    )
    return composed


def composed_processes(composed: Manifest) -> list[DeployedProcess]:
    """Return the processes of the composed services."""
    return [
        DeployedProcess(
            name=name,
            arguments=tuple(service["command"]),
            environment=_image_settings() | service["environment"],
            grace_s=int(service["stop_grace_period"].removesuffix("s")),
        )
        for name, service in composed["services"].items()
        if service["image"] == IMAGE
    ]


def kustomize(folder: str, secrets: str, scratch: Path) -> list[Manifest]:
    """Return the manifests of a folder of deploy/kubernetes.

    `secrets`: contents of its secrets.env; `scratch`: folder for a copy with them. Raises
    DeploymentError.
    """
    copied = Path(shutil.copytree(KUBERNETES, scratch / "kubernetes", dirs_exist_ok=True))
    (copied / folder / "secrets.env").write_text(secrets)
    command = [str(_PROGRAMS / "kubectl"), "kustomize", str(copied / folder)]
    return split_manifests(_run(command))


def split_manifests(text: bytes) -> list[Manifest]:
    """Return the documents of a YAML text."""
    return [msgspec.yaml.decode(part) for part in text.split(b"\n---\n")]


def deployments(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield the Deployments of Assay."""
    for manifest in manifests:
        if manifest["kind"] == "Deployment":
            (first, *_) = manifest["spec"]["template"]["spec"]["containers"]
            if first["name"] == IMAGE:
                yield manifest


def named(manifests: Iterable[Manifest], kind: str, name: str) -> Manifest:
    """Return one manifest."""
    return next(
        manifest
        for manifest in manifests
        if manifest["kind"] == kind and manifest["metadata"]["name"] == name
    )


def container_of(manifest: Manifest) -> Manifest:
    """Return the one container of a Deployment's pods."""
    (found,) = manifest["spec"]["template"]["spec"]["containers"]
    container: Manifest = found
    return container


def kustomized_processes(manifests: list[Manifest]) -> list[DeployedProcess]:
    """Return a process of each Deployment of Assay."""
    return [
        DeployedProcess(
            name=deployment["metadata"]["name"],
            arguments=tuple(container_of(deployment)["args"]),
            environment=_image_settings() | environment_of(container_of(deployment), manifests),
            grace_s=deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"],
        )
        for deployment in deployments(manifests)
    ]


def environment_of(container: Manifest, manifests: list[Manifest]) -> dict[str, str]:
    """Return the variables of a container, references resolved.

    A Secret that is not among the manifests has none.
    """
    env: dict[str, str] = {}
    for source in container.get("envFrom", ()):
        (kind, reference), *_ = source.items()
        env |= _values("Secret" if kind == "secretRef" else "ConfigMap", reference, manifests)
    for variable in container.get("env", ()):
        if "value" in variable:
            env[variable["name"]] = variable["value"]
        else:
            reference = variable["valueFrom"]["secretKeyRef"]
            env[variable["name"]] = _values("Secret", reference, manifests)[reference["key"]]
    return env


def _values(kind: str, reference: Manifest, manifests: list[Manifest]) -> dict[str, str]:
    for manifest in manifests:
        if manifest["kind"] == kind and manifest["metadata"]["name"] == reference["name"]:
            data: dict[str, str] = manifest["data"]
            if kind == "ConfigMap":
                return data
            return {name: base64.b64decode(value).decode() for name, value in data.items()}
    return {}


def _image_settings() -> dict[str, str]:
    env = stage_of("service").environment()
    return {name: value for name, value in env.items() if name.startswith("ASSAY_")}


def _run(command: list[str], env: Mapping[str, str] | None = None) -> bytes:
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    if done.returncode:
        raise DeploymentError(done.stderr.decode(errors="replace"))
    return done.stdout


PROGRAM: Final = (sys.executable, "-m", "assay")
"""This checkout's."""

_START_S: Final = 90.0
_LOOK_EVERY_S: Final = 0.1
_LOG_TAIL_CHARS: Final = 3_000


class RunningMember:
    """One process."""

    def __init__(
        self, planned: DeployedProcess, env: Mapping[str, str], folder: Path, program: Sequence[str]
    ) -> None:
        self.planned: Final = planned
        self.port: Final = free_port()
        self.metrics_port: Final = free_port()
        self._env = {
            **planned.environment,
            **env,
            "ASSAY_HOST": "127.0.0.1",
            "ASSAY_PORT": str(self.port),
            "ASSAY_METRICS_ADDRESS": f"127.0.0.1:{self.metrics_port}",
        }
        self._program = program
        self._log = folder / f"{planned.name}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*program, *planned.arguments],
                cwd=self._env["TMPDIR"],
                env=self._env,
                stdout=log,
                stderr=log,
            )

    @property
    def url(self) -> str:
        """Return where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def status_of(self, path: str) -> int | None:
        """Return the status of an answer. None: there is none."""
        try:
            return httpx.get(self.url + path, timeout=10).status_code
        except httpx.TransportError:
            return None

    def until_ready(self) -> None:
        """Wait for /ready. Raises PartFailedError."""
        until_s = time.monotonic() + _START_S
        while self.status_of("/ready") != httpx.codes.OK:
            if self.process.poll() is not None or time.monotonic() > until_s:
                tail = self._log.read_text(errors="replace")[-_LOG_TAIL_CHARS:]
                message = f"{self.planned.name} is not ready: {tail}"
                raise PartFailedError(message)
            time.sleep(_LOOK_EVERY_S)

    def metrics(self) -> dict[str, set[tuple[tuple[str, str], ...]]]:
        """Return the names of its metrics, with the labels of each sample that is not 0."""
        text = httpx.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10).text
        return {
            family.name: {tuple(one.labels.items()) for one in family.samples if one.value}
            for family in text_string_to_metric_families(text)
        }

    def run(self, *arguments: str) -> str:
        """Run another command next to the process, as `docker compose exec` would; return its
        output.

        Raises PartFailedError.
        """
        done = subprocess.run(
            [*self._program, *arguments],
            cwd=self._env["TMPDIR"],
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PartFailedError(done.stderr)
        return done.stdout

    def send_stop(self) -> None:
        """Send the stop signal of Docker and Kubernetes."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it, if it has not ended."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running_members(
    planned: Sequence[DeployedProcess],
    env: Mapping[str, str],
    folder: Path,
    *,
    program: Sequence[str] = PROGRAM,
) -> Iterator[dict[str, RunningMember]]:
    """Start processes together, wait until all are ready, yield them by name, and kill them.

    `env`: differences of this machine; `folder`: for logs and temporary files; `program`: `assay`.
    Raises PartFailedError.
    """
    system = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with ExitStack() as stack:
        members = {}
        for one in planned:
            temporary = folder / f"{one.name}-tmp"
            temporary.mkdir()
            own = {**system, **env, "TMPDIR": str(temporary)}
            member = members[one.name] = RunningMember(one, own, folder, program)
            stack.callback(member.kill)
        for member in members.values():
            member.until_ready()
        yield members
