"""Static analysis of a command, under the service's deadline."""

from contextlib import AsyncExitStack

from analysis.static.result_cache import StaticResultCache


async def open_static_results(stack: AsyncExitStack) -> StaticResultCache:
    """Start a worker, until the stack is closed. Forks it if nothing else has started a thread."""
    results = StaticResultCache(in_processes=True, may_fork=True)
    stack.callback(results.close)
    await results.start()
    return results
