"""How many blocks one query for logs may span."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
)
from assay.doctor.log_sets import query
from indexer.decode.pool_events import CREATION_TOPICS

_MOST_SEARCH = 8


def _look(subject: Subject) -> Steps:
    """Events that are rare are asked for: the number of blocks is to be the only limit."""
    head = subject.head.number
    most = min(subject.indexer.max_log_range, head + 1)
    factories = [dex.factory for dex in subject.chain.dexes]
    accepted, refused, size, said = 0, None, min(subject.indexer.initial_log_range, most), ""
    for _ in range(_MOST_SEARCH + 8):
        answers = yield ask(query(head - size + 1, head, CREATION_TOPICS, factories))
        if not is_result(answers[0]):
            refused, said = size, describe_answer(answers[0])
        else:
            accepted = size
        if accepted == most or refused == 1:
            break
        if refused is not None and refused - accepted <= max(1, accepted // 8):
            break
        size = min(4 * size, most) if refused is None else (accepted + refused) // 2
    if accepted == most:
        return [ok(f"{most} blocks in one query")]
    seen = f"{accepted} blocks in one query; of {refused}: {said}"
    return [CheckFinding(status="degraded" if accepted else "failed", seen=seen)]


CHECK = Check(
    name="log ranges",
    group="logs",
    question="how many blocks may a query for logs span",
    look=_look,
    costs="a back-fill takes as many queries more; histories of holders are cut at "
    "indexer.history_requests",
    mend="back-fill from a node of your own, or set indexer.max_log_range so that none is refused",
)
