"""The one move chosen by next_step brings any tip to any head, for any blocks in between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import BlockRef, Hash32
from indexer.head.reconcile import Append, CatchUp, NoChange, Unwind, next_step


def block(number: int, branch: str = "a", parent: str = "a") -> BlockRef:
    return BlockRef(
        number=number,
        hash=Hash32(f"{number}{branch}"),
        parent_hash=Hash32(f"{number - 1}{parent}"),
        time_s=number,
    )


@pytest.mark.parametrize(
    ("tip", "head", "step"),
    [
        (block(5), block(5), NoChange()),
        (block(5), block(6), Append(block(6))),
        (block(5), block(7), CatchUp(6)),
        (block(5), block(9, "b"), CatchUp(6)),
        (block(5), block(6, "b", "b"), Unwind(block(5))),
        (block(5), block(5, "b", "b"), Unwind(block(5))),
        (block(5), block(5, "b", "a"), Unwind(block(5))),
        (block(5), block(4), Unwind(block(5))),
        (block(5), block(3, "b"), Unwind(block(5))),
    ],
)
def test_the_four_cases(tip: BlockRef, head: BlockRef, step: object) -> None:
    assert next_step(tip, head) == step


@given(
    shared=st.integers(1, 8),
    ours=st.integers(0, 8),
    theirs=st.integers(0, 8),
)
def test_following_the_steps_ends_at_the_head(shared: int, ours: int, theirs: int) -> None:
    trunk = [block(number) for number in range(shared)]

    def grow(branch: str, count: int) -> list[BlockRef]:
        return trunk + [block(shared + at, branch, branch if at else "a") for at in range(count)]

    stored_chain, canonical = grow("b", ours), grow("c", theirs)
    head = canonical[-1]
    for _ in range(len(stored_chain) + len(canonical) + 1):
        step = next_step(stored_chain[-1], head)
        if isinstance(step, CatchUp):
            step = next_step(stored_chain[-1], canonical[step.number])
        if isinstance(step, NoChange):
            break
        if isinstance(step, Append):
            stored_chain.append(step.block)
        else:
            stored_chain.pop()
    assert stored_chain == canonical
