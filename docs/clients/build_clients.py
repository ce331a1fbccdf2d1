"""The clients of the API: `make clients` writes a wheel and an npm tarball into dist/.

Both are generated from the OpenAPI document. In it, each key that is true, false or unknown becomes
a `Truth`, so that no condition takes an unknown answer for false.
"""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from assay.demo.npm_packages import NODE_MODULES, find_node
from docs.site.operation_pages import read_document

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[1]
_README: Final = _ROOT / "docs" / "use" / "clients.md"
_PYTHON: Final = {
    "project_name_override": "assay-client",
    "package_name_override": "assay_client",
    "literal_enums": True,
    "post_hooks": [],
    "content_type_overrides": {"application/zstd": "application/octet-stream"},
}
_RUNTIME: Final = "openapi-fetch"
_ABSENT: Final = re.compile(r"Truth\.from_dict\(d\.pop\((\"\w+\")\)\)")
"""Reading of a key that the generator takes for always present."""


def build_clients(folder: Path, document: Mapping[str, Any]) -> tuple[Path, Path]:
    """Build both clients into a folder. Return the wheel and the npm tarball.

    Raises CalledProcessError, with the output on standard error, if one cannot be built.
    """
    folder.mkdir(parents=True, exist_ok=True)
    version = metadata.version("assay")
    with tempfile.TemporaryDirectory() as scratch:
        wheel = _build_python(Path(scratch), folder.resolve(), document, version)
        tarball = _build_typescript(Path(scratch), folder.resolve(), document, version)
    return wheel, tarball


def with_truths(document: Mapping[str, Any], truth: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy in which the three-valued keys of answers refer to a schema `Truth`.

    A boolean that may be absent is one too: absent is unknown. `truth` is that schema.
    """
    changed: dict[str, Any] = json.loads(json.dumps(document))
    schemas = changed["components"]["schemas"]
    for schema in schemas.values():
        if schema.get("additionalProperties") is not False:
            continue  # the body of a request
        required = {*schema.get("required", [])}
        for key, about in schema.get("properties", {}).items():
            kinds = [each.get("type") for each in about.get("oneOf", [about])]
            if "boolean" in kinds and ("null" in kinds or key not in required):
                reference = {"allOf": [{"$ref": "#/components/schemas/Truth"}]}
                schema["properties"][key] = {**reference, "description": about["description"]}
                required.add(key)
        schema["required"] = sorted(required)
    schemas["Truth"] = {"title": "Truth", **truth}
    return changed


def _build_python(scratch: Path, folder: Path, document: Mapping[str, Any], version: str) -> Path:
    source = scratch / "python"
    config = {**_PYTHON, "package_version_override": version}
    shape = {"type": "object", "properties": {}, "additionalProperties": False}
    (scratch / "config.json").write_text(json.dumps(config))
    (scratch / "document.json").write_text(json.dumps(with_truths(document, shape)))
    _run(
        *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "setup"),
        *("--fail-on-warning", "--path", str(scratch / "document.json")),
        *("--config", str(scratch / "config.json"), "--output-path", str(source)),
    )
    models = source / "assay_client" / "models"
    shutil.copy(_HERE / "truth.py", models)
    for module in models.glob("*.py"):
        text = module.read_text(encoding="utf-8")
        module.write_text(_ABSENT.sub(r"Truth.from_dict(d.pop(\1, None))", text), encoding="utf-8")
    shutil.copy(_README, source / "README.md")
    _run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps"),
        *("--no-build-isolation", "-w", str(folder), str(source)),
    )
    return folder / f"assay_client-{version}-py3-none-any.whl"


def _build_typescript(
    scratch: Path, folder: Path, document: Mapping[str, Any], version: str
) -> Path:
    source = scratch / "typescript"
    source.mkdir()
    (source / "node_modules").symlink_to(NODE_MODULES, target_is_directory=True)
    for module in ("index.ts", "truth.ts"):
        shutil.copy(_HERE / module, source)
    shape = {"type": "null"}
    _run(
        *(find_node(), str(_HERE / "compile.mjs"), str(source)),
        stdin=json.dumps(with_truths(document, shape)),
    )
    shutil.copy(_README, source / "README.md")
    lock = json.loads((_ROOT / "package.json").read_text(encoding="utf-8"))
    package = {
        "name": "assay-client",
        "version": version,
        "description": "Client of the Assay API",
        "license": "Apache-2.0",
        "type": "module",
        "exports": {"types": "./dist/index.d.ts", "default": "./dist/index.js"},
        "types": "./dist/index.d.ts",
        "dependencies": {_RUNTIME: lock["devDependencies"][_RUNTIME]},
    }
    (source / "package.json").write_text(json.dumps(package, indent=2) + "\n", encoding="utf-8")
    tarball = folder / f"assay-client-{version}.tgz"
    with tarfile.open(tarball, "w:gz") as packed:
        for name in ("package.json", "README.md", "dist"):
            packed.add(source / name, f"package/{name}")
    return tarball


def _run(*command: str, stdin: str | None = None) -> None:
    subprocess.run(
        command, cwd=_ROOT, input=stdin, stdout=sys.stderr, text=True, check=True, timeout=300
    )


if __name__ == "__main__":
    for built in build_clients(_ROOT / "dist", read_document()):
        sys.stdout.write(f"{built.relative_to(_ROOT)}\n")
