"""Count of static analyses, for tests of their caches."""

from analysis.static.analyse_code import CodeAnalysis, analyse_code


class Counted:
    """The real examination, with a count of how often it was done."""

    def __init__(self) -> None:
        self.codes: list[bytes] = []

    def __call__(self, code: bytes) -> CodeAnalysis:
        self.codes.append(code)
        return analyse_code(code)
