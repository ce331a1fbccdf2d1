"""A certified OpenID Connect provider, run for real, and browsers of people who sign in there."""

import re
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.serving.cached_answer_app import CachedAnswerApp
from assay.demo.npm_packages import find_node
from config.sign_in import OidcClient
from core.process.secret import Secret
from tests.harness.api.world import CLIENT, World

PUBLIC = "https://assay.test"
PLAIN = "http://localhost:8000"
"""The same on a machine of one's own, without https."""

PAGES = {"Accept": "text/html,application/xhtml+xml"}

_ACTION = re.compile(r'<form[^>]* action="([^"]+)"')
_MOST_STEPS = 12


class Provider:
    """Process of the identity provider; `lie` falsifies its next tokens."""

    def __init__(self) -> None:
        program = Path(__file__).with_name("issuer.mjs")
        redirects = [f"{origin}/login/callback" for origin in (PUBLIC, PLAIN)]
        self._process = subprocess.Popen(
            [find_node(), str(program), *redirects],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the provider does not start"

    def lie(self, about: str | None) -> None:
        """Falsify tokens until the next change."""
        query = {} if about is None else {"about": about}
        httpx.post(f"{self.url}/lie", params=query).raise_for_status()

    def client(self, **changes: Any) -> OidcClient:
        """Client registration at the provider."""
        plain: dict[str, Any] = {
            "issuer": self.url,
            "client_id": "assay",
            "client_secret": Secret("the-secret"),
            "public_url": PUBLIC,
        }
        return OidcClient(**{**plain, **changes})

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Browser:
    """Browser of one person: keeps cookies and fills in forms."""

    def __init__(self, app: CachedAnswerApp) -> None:
        self.app = app
        ours = httpx.ASGITransport(
            app=app,  # type: ignore[arg-type]  # the two name the ASGI types differently
            client=(CLIENT, 40_000),
            raise_app_exceptions=False,
        )
        self.client = httpx.AsyncClient(
            mounts={PUBLIC: ours, PLAIN: ours}, headers=PAGES, trust_env=False
        )

    async def open(self, url: str) -> httpx.Response:
        """One page, however often we are sent on."""
        return await self.follow(await self.client.get(url))

    async def follow(self, response: httpx.Response, *, until: str | None = None) -> httpx.Response:
        """Go where we are sent; not on to an address that begins with `until`."""
        for _ in range(_MOST_STEPS):
            if not response.has_redirect_location:
                return response
            target = response.url.join(response.headers["Location"])
            if until is not None and str(target).startswith(until):
                return response
            response = await self.client.get(target)
        pytest.fail("sent round in circles")

    async def reach_callback(self, person: str, *, start: str = f"{PUBLIC}/login") -> str:
        """Sign in at the provider, as far as the address it sends us back to."""
        response = await self.client.get(start)
        callback = f"{PUBLIC}/login/callback", f"{PLAIN}/login/callback"
        while True:
            response = await self.follow(response, until=callback[start.startswith(PLAIN)])
            if response.has_redirect_location:
                return str(response.url.join(response.headers["Location"]))
            action = _ACTION.search(response.text)
            assert action, response.text[-500:]
            is_login = 'name="login"' in response.text
            answers = {"prompt": "login", "login": person, "password": "any"}
            response = await self.client.post(
                response.url.join(action[1]), data=answers if is_login else {"prompt": "consent"}
            )

    async def sign_in(self, person: str, *, origin: str = PUBLIC) -> httpx.Response:
        """The whole way; the page where it ends."""
        callback = await self.reach_callback(person, start=f"{origin}/login")
        return await self.open(callback)

    async def send(self, path: str, **fields: str) -> httpx.Response:
        """A form of the dashboard, as the dashboard has it."""
        token = form_token(await self.client.get(f"{PUBLIC}/dashboard"))
        return await self.client.post(
            PUBLIC + path, data={"form_token": token, **fields}, headers={"Origin": PUBLIC}
        )

    async def create_key(self, label: str = "") -> str:
        """The plaintext of a new key."""
        response = await self.send("/dashboard/keys", label=label)
        assert response.status_code == 201, response.text
        return shown_key(response)

    async def ask(self, key: str, path: str) -> httpx.Response:
        """As a program with that key."""
        headers = {"X-API-Key": key, "Accept": "*/*"}
        return await self.client.get(PUBLIC + path, headers=headers)


class _Page(HTMLParser):
    """Fields, rows and the text of a page, as a browser would understand it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(response: httpx.Response) -> _Page:
    """The page."""
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return _Page(response.text)


def form_token(response: httpx.Response) -> str:
    """Token that every form of the session carries."""
    found = {
        attributes["value"]
        for tag, attributes in read(response).tags
        if tag == "input" and attributes.get("name") == "form_token"
    }
    (token,) = found
    assert token
    return token


def shown_key(response: httpx.Response) -> str:
    """The key that a page shows this once."""
    (key,) = re.findall(r'value="(tsk_live_[\w-]{43})"', response.text)
    return str(key)


class Street:
    """Browsers of a test, each on a separate application, all on one ledger."""

    def __init__(self, world: World, provider: Provider) -> None:
        world.clock.now_s = time.clock_gettime(time.CLOCK_REALTIME)  # tokens are of today
        self._world = world
        self._provider = provider
        self._opened: list[Browser] = []

    def browser(self, **changes: Any) -> Browser:
        """A fresh one; `changes` are to how its application is registered."""
        return self._opened_on(self._world.make_app(oidc=self._provider.client(**changes)))

    def browser_of(self, **changes: Any) -> Browser:
        """A fresh one; `changes` are to its application itself."""
        return self._opened_on(self._world.make_app(oidc=self._provider.client(), **changes))

    def _opened_on(self, app: CachedAnswerApp) -> Browser:
        self._world.keep(app)
        self._opened.append(Browser(app))
        return self._opened[-1]

    async def aclose(self) -> None:
        """Close them all."""
        for browser in self._opened:
            await browser.client.aclose()
