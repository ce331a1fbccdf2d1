"""HAProxy with the configuration of deploy/haproxy, in front of processes of this machine."""

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.debian_programs import DebianProgram
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError, ServerProcess, is_listening

CONFIGURATION = PROJECT_ROOT / "deploy" / "haproxy" / "haproxy.cfg"
_NOT_HERE = "could not resolve address"
_SERVER = re.compile(r"^    server (\S+) (\S+):(\d+)$", re.MULTILINE)


def servers() -> set[tuple[str, int]]:
    """Return host and port of each process that the configuration names."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    return {(host, int(port)) for _, host, port in _SERVER.findall(text)}


def check_configuration(haproxy: DebianProgram) -> None:
    """Raise PartFailedError where HAProxy has a complaint, but that the processes are not here."""
    done = subprocess.run(
        [haproxy.path, "-c", "-f", CONFIGURATION],
        env=haproxy.env,
        capture_output=True,
        text=True,
        check=False,
    )
    warnings = [line for line in done.stderr.splitlines() if line.startswith("[WARNING]")]
    if done.returncode or not all(_NOT_HERE in line for line in warnings):
        raise PartFailedError(done.stdout + done.stderr)


@contextmanager
def running_balancer(
    haproxy: DebianProgram, ports: Mapping[str, int], folder: Path
) -> Iterator[str]:
    """Yield the balancer's URL. `ports`: of each server by its name in the configuration. Raises
    PartFailedError."""
    port = free_port()
    text = CONFIGURATION.read_text(encoding="utf-8")
    text = _SERVER.sub(lambda one: f"    server {one[1]} 127.0.0.1:{ports[one[1]]}", text)
    # No name server of Docker's is here, and nobody else is to reach it.
    text = text.replace(" resolvers docker init-addr last,libc,none", "")
    text = text.replace("bind :8000", f"bind 127.0.0.1:{port}")
    configuration = folder / "haproxy.cfg"
    configuration.write_text(text)
    process = ServerProcess(
        [haproxy.path, "-db", "-f", configuration], log=folder / "haproxy.log", env=haproxy.env
    )
    process.start(lambda: is_listening(port))
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.end(signal.SIGUSR1)
