"""Protects the way in: a real provider, a browser with cookies, and all that can go wrong."""

from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.harness.api.sign_in import (
    PAGES,
    PLAIN,
    PUBLIC,
    Browser,
    Provider,
    Street,
    form_token,
    read,
)
from tests.harness.api.world import World

LIES = (
    *(
        "audience",
        "audience_for_us",
        "second_audience",
        "issuer",
        "issuers",
        "expired",
        "no_end",
        "future",
        "nonce",
    ),
    *("no_nonce", "no_subject", "empty_subject", "access_token", "key", "unknown_key", "unsigned"),
    *("shared_secret", "public_key", "signature", "garbage"),
)


def cookies_of(browser: Browser) -> set[str]:
    return {cookie.name for cookie in browser.client.cookies.jar if "assay" in cookie.name}


async def is_signed_in(browser: Browser) -> bool:
    return (await browser.client.get(f"{PUBLIC}/dashboard")).status_code == 200


async def test_login_goes_to_the_issuer_with_pkce_state_and_nonce(
    browser: Browser, provider: Provider
) -> None:
    response = await browser.client.get(f"{PUBLIC}/login")
    assert response.status_code == 307
    target = urlsplit(response.headers["Location"])
    assert f"{target.scheme}://{target.netloc}" == provider.url
    query = {name: values[0] for name, values in parse_qs(target.query).items()}
    secrets = [query.pop(name) for name in ("state", "nonce", "code_challenge")]
    assert all(len(secret) == 43 for secret in secrets)
    assert len(set(secrets)) == 3
    assert query == {
        "response_type": "code",
        "client_id": "assay",
        "redirect_uri": f"{PUBLIC}/login/callback",
        "scope": "openid email",
        "code_challenge_method": "S256",
    }
    assert response.headers["Cache-Control"] == "no-store"
    again = await browser.client.get(f"{PUBLIC}/login")
    assert not any(secret in again.headers["Location"] for secret in secrets)


async def test_a_person_signs_in_and_out(browser: Browser) -> None:
    page = await browser.sign_in("alice")
    assert (page.status_code, str(page.url)) == (200, f"{PUBLIC}/dashboard")
    assert "alice@people.example" in read(page).text
    assert cookies_of(browser) == {"__Host-assay_session"}
    gone = await browser.send("/logout")
    assert (gone.status_code, gone.headers["Location"]) == (303, "/")
    assert cookies_of(browser) == set()
    assert not await is_signed_in(browser)


async def test_who_signed_out_has_no_use_for_an_old_cookie(browser: Browser) -> None:
    await browser.sign_in("alice")
    old = browser.client.cookies["__Host-assay_session"]
    await browser.send("/logout")
    browser.client.cookies.set("__Host-assay_session", old, domain="assay.test")
    assert not await is_signed_in(browser)


async def test_cookies_are_for_the_browser_and_https_alone(browser: Browser) -> None:
    begun = await browser.client.get(f"{PUBLIC}/login")
    assert begun.headers["Set-Cookie"].split("; ")[1:] == [
        "HttpOnly", "Max-Age=600", "Path=/", "SameSite=lax", "Secure",
    ]  # fmt: skip
    callback = await browser.reach_callback("alice")
    response = await browser.client.get(callback)
    session, attempt = response.headers.get_list("set-cookie")
    assert session.startswith("__Host-assay_session=")
    assert session.split("; ")[1:] == [
        "HttpOnly", "Max-Age=43200", "Path=/", "SameSite=lax", "Secure",
    ]  # fmt: skip
    assert attempt.startswith('__Host-assay_attempt=""; HttpOnly; Max-Age=0;')
    assert (response.status_code, response.headers["Location"]) == (303, "/dashboard")


async def test_on_a_machine_of_ones_own_plain_http_will_do(street: Street) -> None:
    browser = street.browser(public_url=PLAIN)
    page = await browser.sign_in("alice", origin=PLAIN)
    assert (page.status_code, str(page.url)) == (200, f"{PLAIN}/dashboard")
    assert cookies_of(browser) == {"assay_session"}


async def test_a_public_client_proves_itself_by_pkce_alone(street: Street) -> None:
    browser = street.browser(client_id="assay-public", client_secret=None)
    assert (await browser.sign_in("alice")).url == f"{PUBLIC}/dashboard"


async def test_the_same_person_is_the_same_account_in_every_browser(
    street: Street, browser: Browser
) -> None:
    await browser.sign_in("alice")
    await browser.create_key("the first")
    other = street.browser()
    assert "the first" in read(await other.sign_in("alice")).text
    stranger = street.browser()
    assert "the first" not in read(await stranger.sign_in("bob")).text


async def test_each_sign_in_is_a_new_session_and_ends_the_one_before(browser: Browser) -> None:
    await browser.sign_in("alice")
    before = browser.client.cookies["__Host-assay_session"]
    token = form_token(await browser.client.get(f"{PUBLIC}/dashboard"))
    await browser.sign_in("alice")
    assert browser.client.cookies["__Host-assay_session"] != before
    assert form_token(await browser.client.get(f"{PUBLIC}/dashboard")) != token
    browser.client.cookies.clear(domain="assay.test")
    browser.client.cookies.set("__Host-assay_session", before, domain="assay.test")
    assert not await is_signed_in(browser)


async def test_a_session_survives_a_restart_but_not_its_end(
    world: World, street: Street, browser: Browser
) -> None:
    await browser.sign_in("alice")
    restarted = street.browser()
    restarted.client.cookies = browser.client.cookies
    assert await is_signed_in(restarted)
    world.clock.now_s += 43_199
    assert await is_signed_in(restarted)
    world.clock.now_s += 2
    assert not await is_signed_in(restarted)


async def test_a_session_of_another_issuer_is_none(street: Street, browser: Browser) -> None:
    await browser.sign_in("alice")
    moved = street.browser(issuer="https://issuer.example")
    moved.client.cookies = browser.client.cookies
    assert not await is_signed_in(moved)


@pytest.mark.parametrize("lie", LIES)
async def test_a_lying_token_signs_nobody_in(
    browser: Browser, provider: Provider, lie: str
) -> None:
    provider.lie(lie)
    page = await browser.sign_in("alice")
    assert page.status_code == 403
    assert "could not be verified" in read(page).text
    assert cookies_of(browser) == set()
    assert not await is_signed_in(browser)


async def test_an_answer_without_a_token_signs_nobody_in(
    browser: Browser, provider: Provider
) -> None:
    provider.lie("missing")
    page = await browser.sign_in("alice")
    assert page.status_code == 503
    assert cookies_of(browser) == set()


async def test_a_nonce_that_was_swapped_on_the_way_signs_nobody_in(browser: Browser) -> None:
    begun = await browser.client.get(f"{PUBLIC}/login")
    url = httpx.URL(begun.headers["Location"])
    swapped = str(url.copy_set_param("nonce", "planted"))
    page = await browser.open(await browser.reach_callback("alice", start=swapped))
    assert page.status_code == 403


async def test_a_code_of_another_challenge_is_not_redeemed(browser: Browser) -> None:
    begun = await browser.client.get(f"{PUBLIC}/login")
    url = httpx.URL(begun.headers["Location"])
    swapped = str(url.copy_set_param("code_challenge", "a" * 43))
    page = await browser.open(await browser.reach_callback("alice", start=swapped))
    assert page.status_code == 400
    assert not await is_signed_in(browser)


@pytest.mark.parametrize(("late_s", "status"), [(3600 + 30, 303), (3600 + 90, 403)])
async def test_a_token_ends_but_clocks_may_differ_a_little(
    world: World, browser: Browser, late_s: int, status: int
) -> None:
    callback = await browser.reach_callback("alice")
    attempt = browser.client.cookies["__Host-assay_attempt"]
    world.clock.now_s += late_s  # which also ends what the browser keeps for ten minutes
    browser.client.cookies.set("__Host-assay_attempt", attempt, domain="assay.test")
    assert (await browser.client.get(callback)).status_code == status


async def test_an_attempt_lasts_ten_minutes(world: World, browser: Browser) -> None:
    callback = await browser.reach_callback("alice")
    world.clock.now_s += 601
    assert (await browser.client.get(callback)).status_code == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", "A" * 43),
        ("state", ""),
        ("state", "\u00e9"),
        ("iss", "https://issuer.example"),
        ("iss", None),
    ],
)
async def test_an_answer_of_another_attempt_or_issuer_is_refused(
    browser: Browser, name: str, value: str | None
) -> None:
    callback = httpx.URL(await browser.reach_callback("alice"))
    altered = callback.copy_remove_param(name)
    if value is not None:
        altered = altered.copy_add_param(name, value)
    page = await browser.open(str(altered))
    assert page.status_code == 400
    assert not await is_signed_in(browser)
    assert (await browser.open(str(callback))).url == f"{PUBLIC}/dashboard"


async def test_another_browser_cannot_finish_an_attempt(street: Street, browser: Browser) -> None:
    callback = await browser.reach_callback("mallory")
    victim = street.browser()
    assert (await victim.open(callback)).status_code == 400
    await victim.client.get(f"{PUBLIC}/login")
    assert (await victim.open(callback)).status_code == 400
    assert not await is_signed_in(victim)


async def test_a_code_works_once(browser: Browser) -> None:
    callback = await browser.reach_callback("alice")
    attempt = browser.client.cookies["__Host-assay_attempt"]
    await browser.open(callback)
    again = await browser.open(callback)
    assert again.status_code == 400
    browser.client.cookies.set("__Host-assay_attempt", attempt, domain="assay.test")
    replayed = await browser.open(callback)
    assert replayed.status_code == 400
    assert "Sign in again" in read(replayed).text


async def test_who_says_no_is_told_so(browser: Browser) -> None:
    begun = await browser.client.get(f"{PUBLIC}/login")
    state = httpx.URL(begun.headers["Location"]).params["state"]
    iss = httpx.URL(begun.headers["Location"]).copy_with(path="", query=None)
    query = {"state": state, "iss": str(iss), "error": "access_denied"}
    page = await browser.client.get(f"{PUBLIC}/login/callback", params=query)
    assert page.status_code == 403
    assert "access_denied" in read(page).text
    assert cookies_of(browser) == set()


async def test_a_hostile_refusal_is_not_repeated(browser: Browser) -> None:
    begun = await browser.client.get(f"{PUBLIC}/login")
    url = httpx.URL(begun.headers["Location"])
    query = {
        "state": url.params["state"],
        "iss": str(url.copy_with(path="", query=None)),
        "error": "<script>alert(1)</script>",
        "error_description": "call this number",
    }
    page = await browser.client.get(f"{PUBLIC}/login/callback", params=query)
    assert page.status_code == 403
    assert "script" not in page.text
    assert "number" not in page.text


async def test_an_issuer_that_is_down_is_a_503_without_a_trace(street: Street) -> None:
    browser = street.browser(issuer="http://127.0.0.1:9")
    page = await browser.client.get(f"{PUBLIC}/login")
    assert page.status_code == 503
    assert page.headers["Retry-After"] == "30"
    assert "Traceback" not in page.text
    plain = await browser.client.get(f"{PUBLIC}/login", headers={"Accept": "*/*"})
    assert plain.json() == {"detail": "The sign-in service cannot be reached. Try again later."}
    assert cookies_of(browser) == set()


async def test_an_issuer_that_calls_itself_otherwise_is_not_believed(
    street: Street, provider: Provider
) -> None:
    browser = street.browser(issuer=provider.url + "/")
    assert (await browser.client.get(f"{PUBLIC}/login")).status_code == 503


@pytest.mark.parametrize("path", ["/login", "/login/callback", "/dashboard"])
async def test_without_an_issuer_it_is_said(world: World, path: str) -> None:
    response = await world.client().get(path)
    assert response.status_code == 503
    assert "command line" in response.json()["detail"]


async def test_there_is_no_way_to_be_sent_elsewhere(browser: Browser) -> None:
    for name in ("next", "return_to", "redirect_uri", "redirect"):
        callback = await browser.reach_callback(
            "alice", start=f"{PUBLIC}/login?{name}=https://evil.example"
        )
        response = await browser.client.get(callback + f"&{name}=https://evil.example")
        assert response.headers["Location"] == "/dashboard"


async def test_a_person_is_sent_to_sign_in_and_a_program_is_told(browser: Browser) -> None:
    person = await browser.client.get(f"{PUBLIC}/dashboard", headers=PAGES)
    assert (person.status_code, person.headers["Location"]) == (303, "/login")
    program = await browser.client.get(f"{PUBLIC}/dashboard", headers={"Accept": "*/*"})
    assert (program.status_code, program.json()) == (401, {"detail": "You are not signed in."})
