"""A demo in a separate process, the source of pictures and examples."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from core.evm.primitives import Address

ROOT: Final = Path(__file__).parents[2]

_STOP_S: Final = 30
_LAST_LINE: Final = "Ctrl-C ends all of it."
_TOKEN: Final = re.compile(r"│ (\w+) +│.*│ (0x\w{40}) │")
_STORE: Final = re.compile(r"export ASSAY_STORE=(\S+)")


class DemoRun(msgspec.Struct, frozen=True, kw_only=True):
    """A running demo."""

    url: str
    """Without a slash at the end."""
    store: Path
    """Prefix of its store's files."""
    tokens: Mapping[str, Address]
    """Addresses of its tokens by symbol."""

    def page(self, symbol: str) -> str:
        """Build the address of a token's page."""
        return f"{self.url}/t/ethereum/{self.tokens[symbol]}"


@contextmanager
def running_demo() -> Iterator[DemoRun]:
    """Run a demo for the length of the block. Raises RuntimeError if it does not start."""
    port = _free_port()
    command = [sys.executable, "-m", "assay", "demo", "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            output = _read_start(process)
            store = _STORE.search(output)
            if _LAST_LINE not in output or store is None:
                message = "the demo did not start"
                raise RuntimeError(message)
            yield DemoRun(
                url=f"http://127.0.0.1:{port}",
                store=Path(store[1]),
                tokens={
                    symbol: Address(address.lower()) for symbol, address in _TOKEN.findall(output)
                },
            )
        finally:
            process.terminate()
            process.wait(_STOP_S)


def _read_start(process: "subprocess.Popen[str]") -> str:
    output = ""
    for line in process.stdout or ():
        output += line
        if _LAST_LINE in line:
            break
    return output


def _free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
