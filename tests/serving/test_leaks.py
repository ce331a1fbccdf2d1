"""Protects callers' keys and internals: a fault writes neither where others read."""

from typing import get_args

import pytest
import structlog

from config.log import LogFormat, configure_log
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS, World


@pytest.mark.parametrize("form", get_args(LogFormat))
async def test_a_fault_logs_its_trace_without_the_key(
    world: World, capsys: pytest.CaptureFixture[str], form: LogFormat
) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    client = world.client(plans={"trial": PLANS["trial"]})  # the key's plan is gone
    before = structlog.get_config()
    configure_log(form)
    try:
        response = await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": new.plaintext})
    finally:
        structlog.configure(**before)
    logged = capsys.readouterr().err
    assert "PlanGoneError" in logged
    assert "in require_key" in logged
    assert new.plaintext not in logged
    assert (response.status_code, response.json()) == (500, {"detail": "Internal server error."})
