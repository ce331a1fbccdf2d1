"""Prints the feature table as `docs/fields.md`: python -m tests.house.fields_page."""

from typing import Final

from api.formats.native.field_table import FIELDS
from api.formats.summary.flags import COMBINED
from core.report.fields.field import SECTIONS
from docs.site.field_facts import SECTION_TITLES, facts_of
from tests.house.sources import ROOT

PAGE: Final = ROOT / "docs" / "fields.md"

_HEAD: Final = """\
# Fields

Printed from the declarations in `core/report/fields` and `api/formats/native/shapes.py`; do not
edit. To print: `python -m tests.house.fields_page`. A check's severity is its status in the
summary when it finds something. Foreign keys are those of the other formats.
"""


def page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for section in SECTIONS:
        lines.append(f"## {SECTION_TITLES[section]}\n")
        for key, field in FIELDS.items():
            if field.section == section:
                lines += [f"### `{key}`\n", field.meaning, "", *facts_of(key, field), ""]
    lines += [
        "## Checks of what is not one field\n",
        "| Check | Severity | Label |",
        "|---|---|---|",
    ]
    lines += [f"| `{check.key}` | {check.severity} | {check.label} |" for check in COMBINED]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
