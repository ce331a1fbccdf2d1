"""Searches of a code that many detectors ask for are made once."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TypeVar

from analysis.static.token_model.contract_model import ContractModel

_Found = TypeVar("_Found")


def cached_on_model(
    find: Callable[[ContractModel], Iterable[_Found]],
) -> Callable[[ContractModel], tuple[_Found, ...]]:
    """The search, with what it found kept as long as the code is."""

    @wraps(find)
    def recalled(code: ContractModel) -> tuple[_Found, ...]:
        known: tuple[_Found, ...] | None = code.found.get(find)
        if known is None:
            known = code.found[find] = tuple(find(code))
        return known

    return recalled
