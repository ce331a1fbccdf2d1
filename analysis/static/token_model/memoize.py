"""Memoisation of searches over a contract model, which several detectors share."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TypeVar

from analysis.static.token_model.contract_model import ContractModel

_Found = TypeVar("_Found")


def cached_on_model(
    find: Callable[[ContractModel], Iterable[_Found]],
) -> Callable[[ContractModel], tuple[_Found, ...]]:
    """Decorate a search so that its results are kept, as a tuple, in the contract model."""

    @wraps(find)
    def recalled(code: ContractModel) -> tuple[_Found, ...]:
        known: tuple[_Found, ...] | None = code.found.get(find)
        if known is None:
            known = code.found[find] = tuple(find(code))
        return known

    return recalled
