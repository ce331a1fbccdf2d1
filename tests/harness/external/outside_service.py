"""A real HTTP server that answers as outside services do, well or badly."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Service:
    """One server with scripted answers, which records its requests."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.answer: Handler = self._nothing
        self.url = ""

    async def _nothing(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({}, status=404)

    def says(self, body: object, *, status: int = 200) -> None:
        """Answer everything with this JSON."""

        async def answer(_: web.Request) -> web.StreamResponse:
            return web.json_response(body, status=status)

        self.answer = answer

    def says_text(self, body: str, *, status: int = 200) -> None:
        """Answer everything with this text."""

        async def answer(_: web.Request) -> web.StreamResponse:
            return web.Response(text=body, status=status)

        self.answer = answer

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        return await self.answer(request)


@asynccontextmanager
async def running_service() -> AsyncIterator[Service]:
    service = Service()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()
