"""Protects receivers: verifiable signatures, slow retries, and the documented receiver."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from api.watches.delivery.delivery_worker import GIVE_UP_AFTER_S, LONGEST_WAIT_S, next_attempt_s
from api.watches.delivery.webhook_address import WebhookRules
from api.watches.delivery.webhook_sender import WebhookSender
from api.watches.delivery.webhook_signature import new_secret, signature_headers
from api.watches.message_body import MessageRenderer
from core.process.secret import Secret
from sql.engine.store import Store
from sql.watches.watch_messages import find_next
from tests.harness.api.world import CHAINS
from tests.harness.watches.changing_reports import tell, watch
from tests.house.sources import ROOT


def test_the_published_example_comes_out() -> None:
    """From the tests of the reference libraries."""
    headers = signature_headers(
        Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        sent_at_s=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@given(st.integers(1, 2**63), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_receiver_takes_what_we_sign_and_nothing_else(number: int, text: str) -> None:
    secret, body = new_secret(), text.encode()
    headers = signature_headers(
        secret, message_id=f"msg_{number}", sent_at_s=int(time.time()), body=body
    )
    receiver = Webhook(secret.value)
    receiver.verify(body, headers, json_parse=False)
    for wrong in (
        {**headers, "webhook-id": f"msg_{number + 1}"},
        {**headers, "webhook-timestamp": str(int(time.time()) - 9)},
    ):
        with pytest.raises(WebhookVerificationError):
            receiver.verify(body, wrong, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        receiver.verify(body + b" ", headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret().value).verify(body, headers, json_parse=False)


# --- retry schedule -----------------------------------------------------------------------------

chances = st.floats(0, 1)


@given(st.integers(1, 200), chances, st.none() | st.floats(0, 1e9))
def test_a_wait_is_never_too_short_nor_too_long(
    failures: int, chance: float, wanted_s: float | None
) -> None:
    due_s = next_attempt_s(
        failures=failures, failed_first_at_s=0.0, now_s=1.0, chance=chance, retry_after_s=wanted_s
    )
    assert due_s is not None
    wait_s = due_s - 1.0
    assert 0.5 <= wait_s <= LONGEST_WAIT_S
    assert wait_s >= min(2.0 ** (failures - 1), LONGEST_WAIT_S) / 2
    assert wanted_s is None or wait_s >= min(wanted_s, LONGEST_WAIT_S)


@given(st.lists(chances, min_size=100, max_size=100))
def test_a_receiver_that_stays_away_is_tried_for_a_day(chosen: list[float]) -> None:
    now_s, attempts = 0.0, 0
    for chance in chosen:
        attempts += 1
        due_s = next_attempt_s(failures=attempts, failed_first_at_s=0.0, now_s=now_s, chance=chance)
        if due_s is None:
            break
        now_s = due_s
    assert GIVE_UP_AFTER_S <= now_s <= GIVE_UP_AFTER_S + LONGEST_WAIT_S
    assert 30 < attempts < 75


# --- documented receiver ------------------------------------------------------------------------


def documented() -> str:
    text = (ROOT / "docs" / "use" / "watching.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(program)


@pytest.mark.process
@pytest.mark.process
async def test_the_documented_receiver_works(store: Store, tmp_path: Path) -> None:
    program, secret = tmp_path / "receiver.py", new_secret()
    program.write_text(documented())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    env = {**os.environ, "WATCH_SECRET": secret.value, "PORT": str(port)}
    watch_id = watch(store, url, secret)
    tell(store, 1)
    tell(store, 2)
    message = find_next(store, watch_id)
    assert message is not None
    body = MessageRenderer(CHAINS).encode(message)
    sender = WebhookSender(WebhookRules(allow_http=True, allow_private=True), timeout_s=5)

    async def send(key: object, sent_at_s: float) -> str | None:
        attempt = await sender.send(
            url,
            key,  # type: ignore[arg-type]  # a secret
            message_id="msg_1",
            sent_at_s=int(sent_at_s),
            body=body,
        )
        return attempt.error

    with subprocess.Popen(  # noqa: ASYNC220 - it is started at once
        [sys.executable, str(program)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            ends = time.monotonic() + 20
            while await send(new_secret(), time.time()) != "HTTP 401":
                assert time.monotonic() < ends
            assert await send(secret, time.time() - 600) == "HTTP 401"
            assert await send(secret, time.time()) is None
            assert await send(secret, time.time()) is None  # a repeat is dropped
        finally:
            await sender.aclose()
            process.kill()
            assert process.stdout is not None
            said = process.stdout.read().splitlines()
    assert len(said) == 1
    assert said[0].startswith("TKN safe None [{'kind': 'owner', 'what': 'owner_address'")
