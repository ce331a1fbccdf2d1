"""Protects the receiver in the documentation: it accepts our messages, and nothing else."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from api.watches.delivery.webhook_address import WebhookRules
from api.watches.delivery.webhook_sender import WebhookSender
from api.watches.delivery.webhook_signature import new_secret
from api.watches.message_body import MessageRenderer
from sql.engine.store import Store
from sql.watches.watch_messages import find_next
from tests.harness.api.world import CHAINS
from tests.harness.watches.changing_reports import tell, watch
from tests.house.sources import ROOT

pytestmark = pytest.mark.process


def documented() -> str:
    text = (ROOT / "docs" / "use" / "watching.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(program)


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
