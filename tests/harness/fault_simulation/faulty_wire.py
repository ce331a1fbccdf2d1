"""Nodes of a model chain: behind, on an abandoned branch, silent, refusing, cut off, or lying.

Their faults are drawn at each message. A transport of the product's own protocol, so that all of
the client is used.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

from core.errors import UpstreamError
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    HttpStatusError,
    RateLimitedError,
)
from tests.harness.fault_simulation.model_chain import ModelBlock, ModelChain
from tests.harness.node.odd_node import Oddity, Seen
from tests.harness.node.oddities import DISGUISES
from tests.harness.replay.answers import NodeAnswers, RpcCall
from tests.harness.replay.block_spool import SpooledBlock
from tests.harness.replay.faults import RANGE_WORDINGS, Fault, Refusal, limit_ranges
from tests.harness.replay.http_server import answer_calls, read_message

_NEEDS_ADDRESS = Refusal(-32701, "Please specify an address in your request")

_PASSING = (
    Refusal(-32005, "rate limit exceeded"),
    Refusal(-32000, "header not found"),
    Refusal(-32000, "missing trie node"),
    Refusal(-32603, "internal error"),
)

_UNDER_WAY_S = (0.0, 0.2, 1.0, 3.0)
_ODD_SHARE = 0.3
_CUT_SHARE = 0.2

Answers = list[dict[str, Any]]
Lie = Callable[[Any], Any]


class NodeView:
    """The chain as one node knows it now. May be behind."""

    def __init__(self, model: ModelChain) -> None:
        self.spool = model.spool
        self.chain_id = model.chain.id
        self._model = model
        self._canonical: tuple[ModelBlock, ...] | None = None
        self._made = 0

    def stay(self) -> None:
        """Hear of nothing new until `catch_up`."""
        self._canonical, self._made = self._model.canonical, self._model.made

    def catch_up(self) -> None:
        """Know all that there is."""
        self._canonical = None

    @property
    def canonical(self) -> tuple[ModelBlock, ...]:
        """Its branch."""
        return self._model.canonical if self._canonical is None else self._canonical

    @property
    def head(self) -> int:
        """Number of its newest block."""
        return self.canonical[-1].number

    def at(self, number: int) -> SpooledBlock | None:
        """Its block at a height. None: there is none."""
        return self.canonical[number].spooled if 0 <= number <= self.head else None

    def by_hash(self, block_hash: str) -> SpooledBlock | None:
        """A block of any branch that it has heard of."""
        found = self._model.find(block_hash)
        if found is None or (self._canonical is not None and found.order >= self._made):
            return None
        return found.spooled

    def has_code(self, address: str, number: int) -> bool:
        """True if a log of the address is on its branch by then: contracts have code from their
        first on."""
        return any(address in block.spooled.emitters for block in self.canonical[: number + 1])


class FaultyWire:
    """A transport to one node. Its faults can be turned off."""

    def __init__(
        self,
        model: ModelChain,
        dice: Random,
        *,
        name: str,
        between: Callable[[], None] = lambda: None,
        slow_share: float = 0.0,
    ) -> None:
        """Wire to a node of the model.

        `between`: called before each answer; the chain may change in it. `slow_share`: share of
        delayed answers, 0 to 1, which may be outdated when they arrive.
        """
        self.service = name
        self.view = NodeView(model)
        self._model = model
        self.fault_share = 0.0
        """Share of faulty messages, 0 to 1."""
        self.most_blocks: int | None = None
        """Largest accepted range of a log query. None: any."""
        self.needs_address = False
        self.most_calls: int | None = None
        """Largest accepted batch. None: any."""
        self._wording = dice.choice(sorted(RANGE_WORDINGS))
        self._answers = NodeAnswers(self.view)
        self._dice = dice
        self._between = between
        self._slow_share = slow_share
        # Separate dice, so that the histories of earlier seeds stay as they were.
        self._oddities = Random(f"{name} {dice.getstate()[1][:8]}")  # noqa: S311 - a test's dice
        self._oddity: Oddity | None = None
        self._seen: Seen = Counter()

    def spoil(self, fault_share: float) -> None:
        """Inject faults of some newly drawn kinds from now on."""
        self.heal()
        if self._oddities.random() < _ODD_SHARE:
            self._oddity = self._oddities.choice(DISGUISES)
        self.fault_share = fault_share
        self.most_blocks = self._dice.choice((None, None, 1, 3, 10))
        self.needs_address = self._dice.random() < 0.15
        self.most_calls = self._dice.choice((None, None, 1, 4))
        if self._dice.random() < 0.3:
            self.view.stay()

    def heal(self) -> None:
        """Answer rightly from now on."""
        self.view.catch_up()
        self._oddity = None
        self.fault_share, self.most_blocks = 0.0, None
        self.needs_address, self.most_calls = False, None

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        """The wire."""
        del ids
        self._between()
        answer = self._answer(body)
        if self._dice.random() < self._slow_share:
            await asyncio.sleep(self._dice.choice(_UNDER_WAY_S))
        return answer

    def _answer(self, body: bytes) -> bytes:
        """Answer a message from the chain's present state."""
        calls, is_batch = read_message(body)
        if self.most_calls is not None and len(calls) > self.most_calls:
            raise HttpStatusError(service=self.service, status=413)
        goes_wrong = self._dice.random() < self.fault_share
        if goes_wrong and self._dice.random() < 0.4:
            raise self._failure()
        answer = b"".join(
            answer_calls(self._answers, calls, self._refusals(calls), is_batch=is_batch)
        )
        if self._oddity is not None:
            answer = self._disguised(self._oddity, body, answer)
        if self._model.cuts_logs and _is_by_block(calls) and self._oddities.random() < _CUT_SHARE:
            answer = self._with_late_logs(answer)
        if not goes_wrong:
            return answer
        if self._dice.random() < 0.3:
            return answer[: self._dice.randrange(len(answer))]
        return self._lied(answer, calls)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _disguised(self, oddity: Oddity, body: bytes, answer: bytes) -> bytes:
        """Return the same content in the oddity's form."""
        calls, given = msgspec.json.decode(body), msgspec.json.decode(answer)
        if not isinstance(calls, list):
            return msgspec.json.encode(oddity.answer(calls, given, self._seen))
        changed = [
            oddity.answer(call, one, self._seen) for call, one in zip(calls, given, strict=True)
        ]
        return msgspec.json.encode(oddity.message(calls, changed, self._seen))

    def _with_late_logs(self, answer: bytes) -> bytes:
        """Leave out a part of the logs of blocks that were not yet answered so."""
        decoded = msgspec.json.decode(answer)
        for one in decoded if isinstance(decoded, list) else [decoded]:
            logs = one.get("result")
            if isinstance(logs, list) and len(logs) > 1:
                block = str(logs[0]["blockHash"])
                if block not in self._model.cut:
                    self._model.cut.add(block)
                    one["result"] = logs[: len(logs) // 2]
        return msgspec.json.encode(decoded)

    def _failure(self) -> UpstreamError:
        pause_s = self._dice.choice((None, 0.5, 5.0))
        failures: tuple[UpstreamError, ...] = (
            AnswerTimeoutError(service=self.service, reason="no answer within 10 s"),
            UpstreamError(service=self.service, reason="Connection refused"),
            HttpStatusError(service=self.service, status=self._dice.choice((502, 503, 500))),
            RateLimitedError(service=self.service, reason="HTTP 429", retry_after_s=pause_s),
            AnswerTooLargeError(service=self.service, reason="over 67108864 bytes"),
        )
        return self._dice.choice(failures)

    def _refusals(self, calls: Sequence[RpcCall]) -> Fault:
        found: dict[int, Refusal] = {}
        if self.most_blocks is not None:
            found |= limit_ranges(self.most_blocks, self._wording)(calls).refusals
        if self.needs_address:
            found |= {
                at: _NEEDS_ADDRESS
                for at, call in enumerate(calls)
                if call.method == "eth_getLogs" and "address" not in call.params[0]
            }
        return Fault(refusals=found)

    # --- lies ---------------------------------------------------------------------------------

    def _lied(self, body: bytes, calls: Sequence[RpcCall]) -> bytes:
        if len(calls) == 1 and calls[0].method == "eth_getCode":
            return body  # a false empty code at one height could not be found out
        decoded = msgspec.json.decode(body)
        answers: Answers = decoded if isinstance(decoded, list) else [decoded]
        if calls[0].method == "eth_chainId":
            answers[0]["result"] = "0x539"
        elif self._dice.random() < 0.2:
            refusal = self._dice.choice(_PASSING)
            answers = [_refused(answer, refusal) for answer in answers]
        else:
            lie = self._without_logs if self._may_leave_out(calls) else self._lie()
            answers = [
                answer | {"result": lie(answer["result"])} if "result" in answer else answer
                for answer in answers
            ]
        return msgspec.json.encode(answers if isinstance(decoded, list) else answers[0])

    def _lie(self) -> Lie:
        """Draw a lie that shows in its own answer, or in the next."""
        strange = f"0x{self._dice.getrandbits(256):064x}"
        by_hash = (_each_log(blockHash=strange), _header(hash=strange), _header(parentHash=strange))
        return self._dice.choice((*_LIES, *by_hash))

    def _may_leave_out(self, calls: Sequence[RpcCall]) -> bool:
        """Nobody can see that logs are missing twice."""
        if not _is_by_block(calls):
            return False
        hashes = {str(call.params[0]["blockHash"]) for call in calls}
        if hashes & self._model.left_out or self._dice.random() < 0.7:
            return False
        self._model.left_out |= hashes
        return True

    def _without_logs(self, result: Any) -> Any:
        if not isinstance(result, list):
            return result
        if not self._model.cuts_logs or len(result) < 2:
            return []
        self._model.cut |= {str(log["blockHash"]) for log in result}
        return result[: len(result) // 2]


def _is_by_block(calls: Sequence[RpcCall]) -> bool:
    return all(call.method == "eth_getLogs" and "blockHash" in call.params[0] for call in calls)


def _refused(answer: dict[str, Any], refusal: Refusal) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": answer["id"], "error": msgspec.to_builtins(refusal)}


def _each_log(**changes: Any) -> Callable[[Any], Any]:
    def lie(result: Any) -> Any:
        if not isinstance(result, list) or any("topics" not in log for log in result):
            return result
        return [log | changes for log in result]

    return lie


def _header(**changes: str) -> Callable[[Any], Any]:
    return lambda result: result | changes if isinstance(result, dict) else result


def _backwards(result: Any) -> Any:
    return result[::-1] if isinstance(result, list) and len(result) > 1 else None


def _twice(result: Any) -> Any:
    return result + result if isinstance(result, list) and result else None


def _smuggled(result: Any) -> Any:
    """A log more, of a contract that the bloom filter excludes, behind the last."""
    if not isinstance(result, list) or not result or "topics" not in result[-1]:
        return None
    return [*result, result[-1] | {"address": "0x" + "5e" * 20, "logIndex": "0x99"}]


_LIES: tuple[Lie, ...] = (
    _each_log(blockNumber="0xffff"),
    _each_log(topics=["0x" + "77" * 32]),
    _each_log(removed=True),
    _each_log(data="0xzz"),
    _backwards,
    _twice,
    _smuggled,
    _header(number="0xfff0"),
    _header(hash="0x"),
    lambda result: None,
    lambda result: {"logs": []} if isinstance(result, list) else "0x",
)
