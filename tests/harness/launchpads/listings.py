"""Launchpads that list their tokens by number."""

from assay.demo.anvil import AnvilNode
from assay.demo.compile import load_artifacts
from assay.demo.transaction_pipeline import Pipeline
from config.facts.launchpad import Catalogue, Launchpad
from core.evm.abi import selector_of
from core.evm.primitives import Address
from tests.harness.launchpads.platforms import Catalogued, other_address

STRANGER = other_address("stranger")
LIST = Catalogue(count="length()", entry="entries(uint256)", token_word=2)
FLAT = "A A T A e0 120 6a000000"
"""An entry as several values. As a struct it opens with an offset."""


class Listing:
    """A test contract that answers like a list."""

    def __init__(self, node: AnvilNode) -> None:
        self._sender = node.accounts()[0]
        self._pipeline = Pipeline(node, load_artifacts())
        self.at = self._pipeline.deploy("Recorder", sender=self._sender)
        self.say("recordUnknown(bytes,bool)", b"", True)

    def say(self, signature: str, *values: object) -> None:
        self._pipeline.call(self.at, signature, *values, sender=self._sender)
        self._pipeline.flush()

    def hold(self, entry: str, *tokens: Address, count: int | None = None) -> None:
        """The tokens from number 0 on; `count` None: as many as they are."""
        catalogued = Catalogued(
            chain=1,
            platform="pad",
            count=selector_of(LIST.count),
            entry=selector_of(LIST.entry),
            at=self.at,
            record=entry,
        ).answers(*tokens)
        if count is not None:
            catalogued[selector_of(LIST.count)] = f"0x{count:064x}"
        for question, answer in catalogued.items():
            self.say("record(bytes,bytes)", bytes.fromhex(question[2:]), bytes.fromhex(answer[2:]))


def pad_at(at: Address) -> Launchpad:
    return Launchpad(slug="pad", kind="curve", contracts=(at,), catalogue=LIST)
