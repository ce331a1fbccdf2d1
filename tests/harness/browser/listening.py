"""The application on a free port, while a test uses it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from api.serving.cached_answer_app import CachedAnswerApp
from api.serving.serve import serve


@asynccontextmanager
async def listening(app: CachedAnswerApp) -> AsyncIterator[int]:
    """The application on a free port, which is the value."""
    stop = asyncio.Event()
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(app, host="127.0.0.1", port=0, stop=stop, listening=ready))
    try:
        yield await ready
    finally:
        stop.set()
        await serving
