"""Is a source verified: both services in their real shapes, and every way they can disagree."""

import aiohttp
import msgspec
import pytest
from aiohttp import web

from analysis.external.verified_sources import Sources
from config.settings import SourceSettings
from core.evm.primitives import Address
from core.process.secret import Secret
from tests.harness.external.outside_service import Service

CONTRACT = Address("0x" + "ab" * 20)
_NAMES = {"match": "exact_match", "creationMatch": None, "runtimeMatch": "exact_match"}
_SOURCE = {"SourceCode": "contract T {}", "ABI": "[]", "ContractName": "T", "Proxy": "0"}
_UNVERIFIED = {"SourceCode": "", "ABI": "Contract source code not verified"}

SOURCIFY: dict[str, tuple[object, int]] = {
    "yes": (_NAMES, 200),
    "partly": (_NAMES | {"match": "match"}, 200),
    "no": (_NAMES | {"match": None, "runtimeMatch": None}, 404),
    "null": (_NAMES | {"match": None}, 200),
    "silent": ({}, 502),
}
ETHERSCAN: dict[str, tuple[object, int]] = {
    "yes": ({"status": "1", "message": "OK", "result": [_SOURCE]}, 200),
    "no": ({"status": "1", "message": "OK", "result": [_UNVERIFIED]}, 200),
    "limited": ({"status": "0", "message": "NOTOK", "result": "Max rate limit reached"}, 200),
    "silent": ({}, 502),
}


@pytest.mark.parametrize(
    ("by_sourcify", "by_etherscan", "expected"),
    [
        ("yes", None, True),
        ("partly", None, True),
        ("no", None, False),
        ("null", None, False),
        ("silent", None, None),
        ("yes", "no", True),
        ("no", "yes", True),
        ("silent", "yes", True),
        ("no", "no", False),
        ("no", "limited", None),
        ("no", "silent", None),
        ("silent", "no", None),
        ("silent", "silent", None),
    ],
)
async def test_is_verified(
    by_sourcify: str,
    by_etherscan: str | None,
    expected: bool | None,
    service: Service,
    session: aiohttp.ClientSession,
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/sourcify"):
            assert request.path == f"/sourcify/v2/contract/8453/{CONTRACT}"
            body, status = SOURCIFY[by_sourcify]
        else:
            assert dict(request.query) == {
                "chainid": "8453",
                "module": "contract",
                "action": "getsourcecode",
                "address": CONTRACT,
                "apikey": "KEY",
            }
            body, status = ETHERSCAN[by_etherscan or ""]
        return web.json_response(body, status=status)

    service.answer = answer
    settings = SourceSettings(
        sourcify_url=f"{service.url}/sourcify", etherscan_url=f"{service.url}/etherscan"
    )
    key = Secret("KEY") if by_etherscan else None
    assert await Sources(session, settings, key).is_verified(8453, CONTRACT) is expected


async def test_nobody_asked_is_not_known(service: Service, session: aiohttp.ClientSession) -> None:
    settings = msgspec.structs.replace(SourceSettings(), sourcify_url="", etherscan_url=service.url)
    assert await Sources(session, settings, None).is_verified(1, CONTRACT) is None
    assert service.requests == []


async def test_asked_anew_whatever_was_said_before(
    service: Service, session: aiohttp.ClientSession
) -> None:
    """The new answer is then cached, too."""
    settings = SourceSettings(
        sourcify_url=f"{service.url}/sourcify", etherscan_url=f"{service.url}/etherscan"
    )
    sources = Sources(session, settings, Secret("KEY"))

    async def no(request: web.Request) -> web.StreamResponse:
        is_sourcify = request.path.startswith("/sourcify")
        body, status = SOURCIFY["no"] if is_sourcify else ETHERSCAN["no"]
        return web.json_response(body, status=status)

    service.answer = no
    for _ in range(2):
        assert await sources.is_verified(1, CONTRACT) is False
    assert len(service.requests) == 2
    service.says(SOURCIFY["yes"][0])
    assert await sources.is_verified(1, CONTRACT, refresh=True) is True
    assert await sources.is_verified(1, CONTRACT) is True
    assert len(service.requests) == 3
