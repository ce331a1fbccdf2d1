"""Names of case tests."""

from tests.harness.cases.cases import Case, Miss
from tests.harness.cases.cases_compile import Build


def name_of(value: Case | Build | Miss | str) -> str:
    if isinstance(value, str):
        return value
    return "-".join(value.builds) or "all" if isinstance(value, Miss) else value.name
