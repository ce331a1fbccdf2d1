"""Dockerfile, and its steps taken without Docker in a folder that stands for `/`."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from assay.demo.npm_packages import PROJECT_ROOT

DOCKERFILE = PROJECT_ROOT / "deploy" / "docker" / "Dockerfile"

_OWN = re.compile(r"(?<![\w./])/(opt|src)\b")
"""Paths that the steps make: all others are the system's."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction."""

    instruction: str
    text: str
    """Rest of the instruction, on one line."""


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """Instructions below one FROM."""

    base: str
    name: str
    steps: tuple[Step, ...]

    def environment(self) -> dict[str, str]:
        """Return the variables of its ENV."""
        words = [shlex.split(text) for text in self.texts("ENV")]
        return dict(word.split("=", 1) for line in words for word in line)

    def words(self, instruction: str) -> list[str]:
        """Return the last ENTRYPOINT or CMD, which is a list."""
        words: list[str] = json.loads(self.texts(instruction)[-1])
        return words

    def texts(self, instruction: str) -> list[str]:
        """Return the text of every such instruction."""
        return [step.text for step in self.steps if step.instruction == instruction]


def read_stages() -> list[Stage]:
    """Return the stages of the Dockerfile in order; the last one is the default target."""
    stages: list[Stage] = []
    for step in _steps(DOCKERFILE.read_text(encoding="utf-8")):
        if step.instruction == "FROM":
            base, _, name = step.text.partition(" AS ")
            stages.append(Stage(base=base, name=name, steps=()))
        else:
            last = stages[-1]
            stages[-1] = msgspec.structs.replace(last, steps=(*last.steps, step))
    return stages


def stage_of(name: str) -> Stage:
    """Return the stage with a name."""
    return next(stage for stage in read_stages() if stage.name == name)


def _steps(text: str) -> Iterator[Step]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        instruction, _, rest = line.partition(" ")
        yield Step(instruction=instruction, text=" ".join(rest.split()))


def build_context() -> dict[str, Path]:
    """Return Docker's context: entries of the project's folder that .dockerignore admits."""
    ignored = (PROJECT_ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    names = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    return {name: PROJECT_ROOT / name for name in names}


def take_steps(stage: Stage, root: Path) -> None:
    """Take the steps of a stage that builds, below `root`. Raises CalledProcessError."""
    working = root
    for step in stage.steps:
        match step.instruction:
            case "WORKDIR":
                working = Path(inside(step.text, root))
                working.mkdir(parents=True)
            case "COPY":
                *sources, target = step.text.split()
                _copy(sources, working / target)
            case "RUN":
                _run(inside(step.text, root), working, root)
            case _:
                raise ValueError(step.instruction)


def inside(text: str, root: Path) -> str:
    """Return a text with the paths that the steps make below `root`."""
    return _OWN.sub(lambda found: f"{root}/{found.group(1)}", text)


def image_environment(stage: Stage, root: Path) -> dict[str, str]:
    """Return the environment of a process of the image, whose paths are below `root`."""
    path = "/usr/local/bin:/usr/bin:/bin"
    env: Mapping[str, str] = {"PATH": path, "HOME": "/nonexistent"} | stage.environment()
    return {name: inside(text.replace("$PATH", path), root) for name, text in env.items()}


def _copy(sources: Sequence[str], target: Path) -> None:
    context = build_context()
    target.mkdir(parents=True, exist_ok=True)
    for source in list(context) if sources == ["."] else sources:
        first, _, rest = source.partition("/")
        path = context[first] / rest if rest else context[first]
        if path.is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, target / path.name, ignore=skipped, dirs_exist_ok=True)
        else:
            shutil.copy(path, target / path.name)


def _run(script: str, working: Path, root: Path) -> None:
    """Run a script with this Python as `python`, without the settings of this environment."""
    programs = root / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "python").unlink(missing_ok=True)
    (programs / "python").symlink_to(Path(sys.executable).resolve())
    ours = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    path = os.pathsep.join([str(programs), ours["PATH"]])
    subprocess.run(["/bin/sh", "-ec", script], cwd=working, env=ours | {"PATH": path}, check=True)
