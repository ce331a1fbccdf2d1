"""Custody as reports show it, and wallets for its checks."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import IndexedFacts, NoFactsIndex
from assay.demo.layout import named_account
from core.evm.primitives import Address, RawAmount
from core.report.report import Report
from tests.harness.chain.contexts import Knowing
from tests.harness.node.faults import NoOverrides

SUPPLY = 1_000_000 * 10**18
KEEPER = named_account("a keeper of custody")


Wallets = Literal["funded", "holder", "both"]


def with_wallets(
    context: ChainContext, wallets: Wallets, holders: Sequence[Address]
) -> ChainContext:
    known = IndexedFacts(holders=tuple((holder, RawAmount(1)) for holder in holders))
    return ChainContext(
        chain=context.chain,
        node=NoOverrides(context.node) if wallets == "holder" else context.node,
        index=NoFactsIndex() if wallets == "funded" else Knowing(known),
        settings=msgspec.structs.replace(context.settings, owner_simulation=True),
        now_s=context.now_s,
    )


def shown(report: Report, key: str) -> str:
    return "".join(row.body for row in report.evidence if row.key.split("#")[0] == key)
