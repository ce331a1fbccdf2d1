"""The archive of compiled cases is what the compilers make of the sources."""

from tests.analysis.cases_compile import HAS_VYPER, compile_all
from tests.analysis.compiled_cases import read_archive


def test_the_archive_is_current() -> None:
    """If it is not: `python -m tests.analysis.compiled_cases`."""
    made = {digest: code.hex() for digest, code in compile_all().items()}
    kept = read_archive()
    assert made.keys() <= kept.keys(), "codes are missing"
    assert all(kept[digest] == code for digest, code in made.items())
    assert not HAS_VYPER or kept.keys() == made.keys(), "codes of sources that are gone"
