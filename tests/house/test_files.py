"""Protects the look of the house: no facts in code, nothing of this machine or of its memory."""

import ast
import json
import re

from tests.house.sources import PACKAGES, ROOT, nodes_of, own_files, python_files, text_constants

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}(?![0-9a-fA-F])")

# One letter of each word is in brackets, or this file would break its own rule.
FOREIGN = re.compile(
    r"(?<![\w.])/(?:[w]ork|[r]oot|[h]ome|[U]sers)/|[p]ypi\.org|python[h]osted|[n]pmjs\.|registry\.[n]pm"
)

VAGUE = {"utils", "helpers", "common", "manager", "misc"}


def test_no_address_stands_in_code() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {text[:60]}"
        for path in python_files(*PACKAGES, "benchmarks")
        for line, text in text_constants(path)
        if ADDRESS.search(text)
    ]
    assert not found, "\n".join(found)


def test_no_file_is_called_after_nothing() -> None:
    vague = [path for path in own_files() if VAGUE.intersection(path.stem.split("_"))]
    assert not vague


def test_nothing_of_this_machine_or_of_an_index_is_written_down() -> None:
    found = []
    for path in own_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in FOREIGN.finditer(text)]
    assert not found, "\n".join(found)


def test_no_key_stands_twice_in_json() -> None:
    """Readers take the last one, and a change of the other one changes nothing."""

    def keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs), [name for name, _ in pairs]
        return dict(pairs)

    for path in own_files():
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=keys)


def test_every_locked_python_package_has_its_hashes_and_no_source() -> None:
    for name in ("requirements/bootstrap.txt", "requirements/runtime.txt", "requirements/dev.txt"):
        text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            assert "==" in line, f"{name}: {line[:80]}"
            assert "--hash=sha256:" in line, f"{name}: {line[:80]}"
            assert "://" not in line, f"{name}: {line[:80]}"


def test_the_locks_agree_on_every_version() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
        # The platforms of a package may differ, as one lock has more packages that need it.
        return {line.split(" ")[0] for line in text.splitlines()}

    developer = pins("requirements/dev.txt")
    assert pins("requirements/runtime.txt") <= developer
    assert pins("requirements/bootstrap.txt") <= developer


def test_the_node_lock_names_versions_and_no_source() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry, name
        if name:
            assert entry["version"], name


# --- order --------------------------------------------------------------------------------------

BY_ADDRESS = {"repr", "id", "hash"}

"""Functions that distinguish objects by their address, unless the class overrides them."""


def test_nothing_is_sorted_by_address() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files(*PACKAGES)
        for node in nodes_of(path)
        if isinstance(node, ast.keyword)
        and node.arg == "key"
        and isinstance(node.value, ast.Name)
        and node.value.id in BY_ADDRESS
    ]
    assert not wrong, "\n".join(wrong)
