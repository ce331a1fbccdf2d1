"""Protects the OpenAPI document: every response to an allowed or forbidden call is documented."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings

from tests.harness.api.fuzz import CALLERS, Fuzzer

CALLS = 800


def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    fuzzer = Fuzzer(tmp_path)

    @settings(max_examples=CALLS // CALLERS, deadline=None, suppress_health_check=list(HealthCheck))
    @given(fuzzer.calls())
    def judge(call: object) -> None:
        fuzzer.judge(call)  # type: ignore[arg-type]  # the strategy's type is lost on the way

    try:
        judge()
    finally:
        fuzzer.close()
    answered = {answer for answer in fuzzer.statuses if answer.endswith(" 200")}
    assert any("/token/" in answer for answer in answered)
