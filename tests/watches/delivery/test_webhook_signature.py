"""Protects signatures: receivers with any library of the specification can verify them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from api.watches.delivery.webhook_signature import new_secret, signature_headers
from core.process.secret import Secret


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
