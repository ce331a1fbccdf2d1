"""Write the generated reference pages kept in the repository: `python -m docs.site.written_pages`.

A house test fails while one of them differs from the declarations.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from api.formats.native.field_table import FIELDS
from api.formats.summary.flags import COMBINED
from config.load_settings import SETTINGS
from core.report.fields.field import SECTIONS
from docs.site.field_facts import SECTION_TITLES, facts_of

_REFERENCE: Final = Path(__file__).parents[1] / "reference"

_FIELDS_HEAD: Final = """\
# Fields

Generated from the declarations in `core/report/fields` and `api/formats/native/shapes.py`; do not
edit. `python -m docs.site.written_pages` writes this page. The severity of a check is its status in
the summary when it fires. Foreign keys are those of the other formats.
"""

_SETTINGS_HEAD: Final = """\
# Settings

Generated from the declarations in `config/`; do not edit. `python -m docs.site.written_pages`
writes this page.

A deployment sets them in `settings.toml` of its overlay directory (`ASSAY_CONFIG`), where a dot in
a name is a table, or by the environment variable if one is listed. The environment wins. In the
same directory, `chains/<slug>.toml` replaces chain facts in the schema of the files under
`config/chains/`: a scalar key replaces the built-in value, a list (`[[stable]]`, `[[dex]]`,
`[[launchpad]]`, `[[locker]]`) replaces the whole built-in list. A mistake stops the start with the
file and the key.

| Name | Environment | Default | Meaning |
|---|---|---|---|
"""


def fields_text() -> str:
    """Build the page of all fields."""
    lines = [_FIELDS_HEAD]
    for section in SECTIONS:
        lines.append(f"## {SECTION_TITLES[section]}\n")
        for key, field in FIELDS.items():
            if field.section == section:
                lines += [f"### `{key}`\n", field.meaning, "", *facts_of(key, field), ""]
    lines += [
        "## Checks of more than one field\n",
        "| Check | Severity | Label |",
        "|---|---|---|",
    ]
    lines += [f"| `{check.key}` | {check.severity} | {check.label} |" for check in COMBINED]
    return "\n".join(lines) + "\n"


def settings_text() -> str:
    """Build the page of all settings."""
    return _SETTINGS_HEAD + "".join(f"| {' | '.join(row)} |\n" for row in _settings_rows())


def _settings_rows() -> Iterator[tuple[str, str, str, str]]:
    for row in SETTINGS:
        default = "" if row.default in (None, "") else f"`{_toml(row.default)}`"
        yield (f"`{row.name}`", f"`{row.env}`" if row.env else "", default, row.help)


def _toml(default: object) -> str:
    """Write a default as a deployment would."""
    if isinstance(default, tuple):
        return str(list(default))
    return str(default).lower() if isinstance(default, bool) else str(default)


PAGES: Final[Mapping[Path, Callable[[], str]]] = {
    _REFERENCE / "fields.md": fields_text,
    _REFERENCE / "settings.md": settings_text,
}


def main() -> None:
    """Write every page."""
    for path, build in PAGES.items():
        path.write_text(build(), encoding="utf-8")


if __name__ == "__main__":
    main()
