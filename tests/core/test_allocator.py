"""Protects the memory of a process with many threads: they share one arena."""

import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

_COUNT_ARENAS = """
import ctypes, os, sys, tempfile, threading
from core.process.allocator import share_one_arena
if sys.argv[1] == "one":
    share_one_arena()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
barrier = threading.Barrier(6)
def allocate():
    barrier.wait()
    for _ in range(1_000):
        libc.malloc(10_000)
    barrier.wait()
threads = [threading.Thread(target=allocate) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with tempfile.TemporaryFile() as file:
    libc.fdopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fdopen(os.dup(file.fileno()), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    file.seek(0)
    print(file.read().count(b"<heap nr="))
"""


def arenas(how_many: str) -> int:
    command = [sys.executable, "-c", _COUNT_ARENAS, how_many]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_all_threads_share_one_arena() -> None:
    assert arenas("one") == 1
    assert arenas("as usual") > 1
