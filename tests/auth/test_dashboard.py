"""Protects people's keys: made, used and revoked by their owner alone, from our own pages alone."""

import asyncio

import pytest

from sql.accounts.accounts import MOST_NEW_KEYS, Accounts, TooManyKeys, TooManyNewKeys
from sql.accounts.ledger import NewKey
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.sign_in import PAGES, PUBLIC, Browser, Street, form_token, read, shown_key
from tests.harness.api.world import PLANS, World

TOKEN_PATH = f"/token/ethereum/{TOKEN}"
HOSTILE = """<script>alert(1)</script>"><img src=x onerror='alert(2)'>&amp;{{ 7*7 }}"""


async def dashboard(browser: Browser) -> str:
    return read(await browser.client.get(f"{PUBLIC}/dashboard")).text


async def test_a_key_from_its_making_to_its_end(browser: Browser) -> None:
    await browser.sign_in("alice")
    made = await browser.send("/dashboard/keys", label="trading bot")
    key = shown_key(made)
    assert made.status_code == 201
    assert made.headers["Cache-Control"] == "no-store"
    answer = await browser.ask(key, TOKEN_PATH)
    assert answer.status_code == 200
    assert "X-API-Key-Expires-At" in answer.headers

    listed = await dashboard(browser)
    assert "trading bot" in listed
    assert "developer" in listed
    assert key[:13] in listed
    assert key not in (await browser.client.get(f"{PUBLIC}/dashboard")).text

    gone = await browser.send("/dashboard/keys/1/revoke")
    assert (gone.status_code, gone.headers["Location"]) == (303, "/dashboard")
    refused = await browser.ask(key, TOKEN_PATH)
    assert (refused.status_code, refused.json()) == (401, {"detail": "Unknown API key."})
    assert "revoked" in await dashboard(browser)


async def test_what_a_key_used_is_shown(world: World, browser: Browser) -> None:
    await browser.sign_in("alice")
    await browser.create_key()
    now_s = world.clock.now_s
    world.count(1, 31, at_s=now_s)
    world.count(1, 1_000, at_s=now_s - 400 * 86_400)
    rows = (await browser.client.get(f"{PUBLIC}/dashboard")).text
    assert rows.count(">31</td>") == 2
    assert ">1031</td>" in rows


async def test_the_sixth_live_key_is_refused(browser: Browser) -> None:
    await browser.sign_in("alice")
    for _ in range(5):
        await browser.create_key()
    sixth = await browser.send("/dashboard/keys")
    assert sixth.status_code == 409
    assert "at most 5" in read(sixth).text
    assert "tsk_live" not in sixth.text
    await browser.send("/dashboard/keys/3/revoke")
    await browser.create_key()


async def test_an_expired_key_makes_room(world: World) -> None:
    accounts, plan = Accounts(world.ledger), PLANS["developer"]
    token = accounts.sign_in(
        issuer="i", subject="s", shown_as="s", now_s=1e9, session_s=60, instead_of=None
    )
    session = accounts.find_session(token, issuer="i", now_s=1e9)
    assert session is not None
    for _ in range(5):
        assert isinstance(accounts.create_key(session.account_id, plan, "", 1e9), NewKey)
    end_s = 1e9 + 365 * 86_400
    assert accounts.create_key(session.account_id, plan, "", end_s - 1) == TooManyKeys()
    assert isinstance(accounts.create_key(session.account_id, plan, "", end_s), NewKey)
    keys = accounts.list_keys(session.account_id, end_s)
    assert [key.is_live(end_s) for key in keys] == [True, *[False] * 5]


async def test_a_race_for_the_last_key_has_one_winner(world: World) -> None:
    accounts = Accounts(world.ledger)
    accounts.sign_in(
        issuer="i", subject="s", shown_as="s", now_s=1e9, session_s=60, instead_of=None
    )
    made = await asyncio.gather(
        *(asyncio.to_thread(accounts.create_key, 1, PLANS["developer"], "", 1e9) for _ in range(20))
    )
    assert sum(isinstance(new, NewKey) for new in made) == 5
    assert sum(isinstance(new, TooManyKeys) for new in made) == 15


async def test_new_keys_are_no_way_round_the_quota(world: World, browser: Browser) -> None:
    await browser.sign_in("alice")
    accounts = Accounts(world.ledger)
    for _ in range(MOST_NEW_KEYS):
        new = accounts.create_key(1, PLANS["developer"], "", world.clock.now_s)
        assert isinstance(new, NewKey)
        accounts.revoke(1, new.row.key_id, world.clock.now_s)
    refused = await browser.send("/dashboard/keys")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "86400")
    over = accounts.create_key(1, PLANS["developer"], "", world.clock.now_s + 86_399)
    assert over == TooManyNewKeys(retry_after_s=1)
    later = accounts.create_key(1, PLANS["developer"], "", world.clock.now_s + 86_400)
    assert isinstance(later, NewKey)


async def test_nobody_sees_or_revokes_the_keys_of_another(street: Street) -> None:
    alice, bob = street.browser(), street.browser()
    await alice.sign_in("alice")
    await bob.sign_in("bob")
    key = await alice.create_key("of alice")
    assert "of alice" not in await dashboard(bob)
    refused = await bob.send("/dashboard/keys/1/revoke")
    assert refused.status_code == 404
    assert (await bob.send("/dashboard/keys/99/revoke")).status_code == 404
    assert (await bob.send(f"/dashboard/keys/{2**70}/revoke")).status_code == 404
    assert (await alice.ask(key, TOKEN_PATH)).status_code == 200


async def test_a_key_of_the_command_line_is_nobodys(world: World, browser: Browser) -> None:
    operators = world.new_key("enterprise")
    await browser.sign_in("alice")
    assert (await browser.send("/dashboard/keys/1/revoke")).status_code == 404
    assert (await browser.ask(operators, TOKEN_PATH)).status_code == 200


POSTS = ("/dashboard/keys", "/dashboard/keys/1/revoke", "/logout")


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_that_is_not_ours_does_nothing(street: Street, path: str) -> None:
    browser, other = street.browser(), street.browser()
    await browser.sign_in("alice")
    key = await browser.create_key()
    token = form_token(await browser.client.get(f"{PUBLIC}/dashboard"))
    await other.sign_in("bob")
    foreign = form_token(await other.client.get(f"{PUBLIC}/dashboard"))

    async def send(fields: dict[str, str], **headers: str) -> int:
        response = await browser.client.post(PUBLIC + path, data=fields, headers=headers)
        return response.status_code

    assert await send({}) == 403
    assert await send({"form_token": ""}) == 403
    assert await send({"form_token": "\u00e9"}) == 403
    assert await send({"form_token": foreign}) == 403
    for origin in ("https://evil.example", "null", "http://assay.test", f"{PUBLIC}.evil.example"):
        assert await send({"form_token": token}, Origin=origin) == 403, origin
    assert (await browser.ask(key, TOKEN_PATH)).status_code == 200
    assert (await dashboard(browser)).count("...") == 1
    assert await send({"form_token": token}, Origin=PUBLIC) < 400


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_without_a_session_does_nothing(browser: Browser, path: str) -> None:
    response = await browser.client.post(PUBLIC + path, data={"form_token": "x"})
    assert response.status_code == 401


async def test_a_form_sent_as_something_else_does_nothing(browser: Browser) -> None:
    await browser.sign_in("alice")
    for body, kind in [
        (b"{}", "application/json"),
        (b"\xff", "text/plain"),
        (b"--", "multipart/form-data"),
    ]:
        response = await browser.client.post(
            f"{PUBLIC}/dashboard/keys", content=body, headers={"Content-Type": kind}
        )
        assert response.status_code in (400, 403, 422), kind
    huge = await browser.client.post(f"{PUBLIC}/dashboard/keys", data={"label": "x" * 20_000})
    assert huge.status_code == 413
    assert (await dashboard(browser)).count("...") == 0


async def test_a_hostile_label_is_only_text(browser: Browser) -> None:
    await browser.sign_in("alice")
    made = await browser.send("/dashboard/keys", label=HOSTILE)
    listed = await browser.client.get(f"{PUBLIC}/dashboard")
    for response in (made, listed):
        assert response.status_code < 300
        page = read(response)
        assert HOSTILE in page.text
        assert not {"script", "img"} & {tag for tag, _ in page.tags}


@pytest.mark.parametrize("label", ["x" * 101, "a\x1b[2Jb", "line\nline", "\u202etxt"])
async def test_a_label_that_would_garble_a_terminal_is_refused(
    browser: Browser, label: str
) -> None:
    await browser.sign_in("alice")
    response = await browser.send("/dashboard/keys", label=label)
    assert response.status_code == 422
    plain = await browser.client.post(
        f"{PUBLIC}/dashboard/keys",
        data={"form_token": form_token(await browser.open(f"{PUBLIC}/dashboard")), "label": label},
        headers={"Accept": "application/json"},
    )
    assert plain.json()["detail"][0]["loc"] == ["body", "label"]


async def test_a_hostile_subject_is_only_text(browser: Browser) -> None:
    page = await browser.sign_in("<b>x")
    assert "<b>x@people.example" in read(page).text
    assert "<b>x" not in page.text


async def test_a_ledger_out_of_reach_is_a_503_and_not_somebody_elses_page(
    world: World, browser: Browser
) -> None:
    await browser.sign_in("alice")
    world.ledger.close()
    response = await browser.client.get(f"{PUBLIC}/dashboard", headers=PAGES)
    assert response.status_code == 503
    assert "Traceback" not in response.text
