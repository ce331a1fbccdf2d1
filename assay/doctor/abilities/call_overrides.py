"""Whether eth_call takes overrides of code, balance and storage; each is proved by an answer that
nothing but the override can give."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswer,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
    word_of,
)
from assay.doctor.tracers import (
    RETURN_STORED,
    call_with,
    drawn_address,
    drawn_word,
    pinned,
    returning,
    returning_balance,
)

_SLOT = "0x" + "0" * 64
_KINDS = ("code", "balance", "stateDiff")


def _look(subject: Subject) -> Steps:
    head = subject.head
    block, account, word = pinned(head), drawn_address(head, "actor"), drawn_word(head, "word")
    wei = int(word, 16) >> 160
    answers = yield ask(
        call_with({account: {"code": returning(word)}}, block, to=account, data="0x"),
        call_with(
            {account: {"balance": hex(wei)}}, block, to=None, data=returning_balance(account)
        ),
        call_with(
            {account: {"code": RETURN_STORED, "stateDiff": {_SLOT: word}}},
            block,
            to=account,
            data="0x",
        ),
    )
    wanted = (int(word, 16), wei, int(word, 16))
    missing = [
        f"{kind}: {_said(answers[at])}"
        for at, (kind, want) in enumerate(zip(_KINDS, wanted, strict=True))
        if word_of(answers[at]) != want
    ]
    if missing:
        return [CheckFinding(status="failed", seen="; ".join(missing))]
    return [ok(f"{', '.join(_KINDS)} of eth_call")]


def _said(answer: ProbeAnswer) -> str:
    return "ignored" if is_result(answer) else describe_answer(answer)


CHECK = Check(
    name="state overrides",
    group="state",
    question="does eth_call take overrides of code, balance and storage",
    look=_look,
    costs="reads go one by one instead of packed (many times the calls); without eth_simulateV1 "
    "no trade is simulated: taxes, honeypots and thefts stay unknown",
    mend="use a node whose eth_call has a third argument",
)
