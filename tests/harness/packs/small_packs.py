"""A small pack for tests that need no node."""

import msgspec

from analysis.replay.evidence_pack import EvidencePack, Given, RecordedCall
from config.settings import AnalysisSettings
from core.evm.primitives import BlockRef, Hash32
from tests.harness.api.sample_reports import make_report

REPORT = make_report()
_TOKEN = REPORT.token

BLOCK = BlockRef(
    number=_TOKEN.block_number,
    hash=_TOKEN.block_hash,
    parent_hash=Hash32("0x" + "2" * 64),
    time_s=_TOKEN.block_time_s,
)

PACK = EvidencePack(
    made_by="assay test",
    chain_id=_TOKEN.chain_id,
    block=BLOCK,
    given=Given(
        settings=AnalysisSettings(),
        index=msgspec.Raw(b'{"pools": []}'),
        secret="s",
        now_s=1,
        chain_facts=Hash32("0x" + "3" * 64),
    ),
    calls=(
        RecordedCall(
            method="eth_getCode",
            params=(_TOKEN.address, {"blockHash": BLOCK.hash}),
            answer=("0x",),
        ),
    ),
    report=msgspec.structs.replace(REPORT, evidence=()),
)
