"""Files of the project for the house rules, parsed once."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "config", "sql", "indexer", "analysis", "api", "assay")
_SKIPPED = frozenset({"node_modules", "__pycache__"})


@cache
def own_files() -> tuple[Path, ...]:
    """Every file of the project itself: nothing installed, built, cached or hidden but .ci."""
    return tuple(sorted(_files_below(ROOT)))


def _files_below(folder: Path) -> Iterator[Path]:
    """Files of a folder, without entering the skipped ones: they have most files of a checkout."""
    for path in folder.iterdir():
        if not path.is_dir():
            yield path
        elif path.name == ".ci" or not (path.name.startswith(".") or path.name in _SKIPPED):
            yield from _files_below(path)


@cache
def python_files(*tops: str) -> list[Path]:
    """The Python files below these top-level names, packages or single modules."""
    files = [ROOT / f"{top}.py" for top in tops if (ROOT / f"{top}.py").is_file()]
    return files + [path for top in tops for path in sorted((ROOT / top).rglob("*.py"))]


@cache
def parsed(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the file's syntax tree. Kept, as walking it takes as long as parsing."""
    return tuple(ast.walk(parsed(path)))


def text_constants(path: Path) -> Iterator[tuple[int, str]]:
    """String literals of a file, the pieces of f-strings included, each with its line."""
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def module_name(path: Path) -> str:
    """`analysis/reads/node.py` -> `analysis.reads.node`; a package's own file is the package."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path) -> tuple[tuple[str, int], ...]:
    """Absolute names a file imports, wherever in it, each with its line.

    `from a.b import c` gives `a.b.c`: whether c is a module is for the caller to see.
    """
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            found += [(f"{prefix}.{alias.name}", node.lineno) for alias in node.names]
    return tuple(found)
