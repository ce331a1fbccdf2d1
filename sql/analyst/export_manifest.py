"""What an export has of a view: manifests, one in the folder of each run.

A run's folder gets its name when all of it is on disk, so that it is there whole or not at all.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from core.errors import StoreError

FORMAT: Final = 1
_NAME: Final = "manifest.json"
_RUN: Final = "run="
_DIGITS: Final = 6

BatchRange = tuple[int, int]
"""First and last number of batches of the lake, both included."""


class ExportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One Parquet file."""

    path: str
    """Below the folder of the run."""
    bytes: int


class ExportManifest(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one view, with what all runs up to it have."""

    format: int = FORMAT
    run: int
    """From 1."""
    store_id: str | None
    """Of the store that the rows are from. None: an earlier release made it."""
    made_at_s: int
    rows: int
    files: tuple[ExportedFile, ...]
    batches: tuple[BatchRange, ...]
    """Batches of the lake of which this run and those before it have all rows."""


def run_folder(view: Path, run: int) -> Path:
    """Return the folder of a run."""
    return view / f"{_RUN}{run:0{_DIGITS}}"


def read_last_manifest(view: Path, *, store_id: str | None) -> ExportManifest | None:
    """Return the manifest of the last run of a view. None: there was none.

    Raises StoreError when it cannot be read, or is of another store.
    """
    runs = sorted(view.glob(f"{_RUN}*"))
    if not runs:
        return None
    path = runs[-1] / _NAME
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=ExportManifest)
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    if manifest.format != FORMAT:
        reason = f"another release wrote it (format {manifest.format}; this one knows {FORMAT})"
        raise StoreError(path=str(path), reason=reason)
    if manifest.store_id != store_id:
        reason = f"it is an export of store {manifest.store_id}; export {store_id} somewhere else"
        raise StoreError(path=str(path), reason=reason)
    return manifest


def write_manifest(folder: Path, manifest: ExportManifest) -> Path:
    """Write the manifest of a run into its folder; return its path. Raises OSError."""
    path = folder / _NAME
    path.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    return path


def to_ranges(batches: Iterable[int]) -> tuple[BatchRange, ...]:
    """Return numbers as ranges, in order."""
    ranges: list[BatchRange] = []
    for batch in sorted(set(batches)):
        if ranges and ranges[-1][1] == batch - 1:
            ranges[-1] = (ranges[-1][0], batch)
        else:
            ranges.append((batch, batch))
    return tuple(ranges)


def from_ranges(ranges: Iterable[BatchRange]) -> set[int]:
    """Return the numbers in ranges."""
    return {batch for first, last in ranges for batch in range(first, last + 1)}
