"""A clock that a test or a benchmark sets."""


class HandClock:
    """Seconds, moved by hand: Unix time or any other."""

    def __init__(self, now_s: float = 1_000_000_000.0) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s
