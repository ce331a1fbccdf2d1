"""Keccak-256 bit by bit as its paper has it: slow, and independent of every library here.

Source: "The Keccak reference", version 3.0, sections 1.2 and 2; padding 0x01 as Ethereum has it.
"""

_RATE = 136
_MASK = (1 << 64) - 1


def keccak256(message: bytes) -> bytes:
    """The 32 bytes of the hash."""
    padded = bytearray(message + b"\x01" + b"\x00" * (-(len(message) + 1) % _RATE))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), _RATE):
        for at in range(_RATE // 8):
            word = int.from_bytes(padded[start + 8 * at : start + 8 * at + 8], "little")
            lanes[at % 5][at // 5] ^= word
        lanes = _permuted(lanes)
    return b"".join(lanes[at][0].to_bytes(8, "little") for at in range(4))


def _permuted(lanes: list[list[int]]) -> list[list[int]]:
    register = 1
    for _ in range(24):
        parity = [a ^ b ^ c ^ d ^ e for a, b, c, d, e in lanes]
        mixed = [parity[x - 1] ^ _turned(parity[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lanes[x][y] ^ mixed[x] for y in range(5)] for x in range(5)]
        x, y, carried = 1, 0, lanes[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            carried, lanes[x][y] = lanes[x][y], _turned(carried, (step + 1) * (step + 2) // 2)
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & _MASK)
        for at in range(7):
            register = ((register << 1) ^ ((register >> 7) * 0x71)) & 0xFF
            if register & 2:
                lanes[0][0] ^= 1 << ((1 << at) - 1)
    return lanes


def _turned(lane: int, by: int) -> int:
    by %= 64
    return ((lane << by) | (lane >> (64 - by))) & _MASK
