"""A small assembler, so that tests show the code they are about."""

from analysis.static.evm.opcodes import NUMBER


def assemble(source: str) -> bytes:
    """Words separated by blanks: mnemonics, `label:` (a JUMPDEST), `@label` (its address, pushed as
    two bytes), numbers (pushed in as few bytes as they need), `raw:hex` (bytes as they are)."""
    words = source.split()
    pieces: list[bytes | str] = []
    labels: dict[str, int] = {}
    position = 0
    for word in words:
        if word.endswith(":"):
            labels[word[:-1]] = position
            piece: bytes | str = bytes([NUMBER["JUMPDEST"]])
        elif word.startswith("@"):
            piece = word[1:]
        elif word.startswith("raw:"):
            piece = bytes.fromhex(word[4:])
        elif word[0].isdigit():
            piece = _push(int(word, 0))
        else:
            piece = bytes([NUMBER[word]])
        pieces.append(piece)
        position += len(piece) if isinstance(piece, bytes) else 3
    return b"".join(
        piece if isinstance(piece, bytes) else b"\x61" + labels[piece].to_bytes(2)
        for piece in pieces
    )


def _push(number: int) -> bytes:
    size = max(1, -(-number.bit_length() // 8))
    return bytes([NUMBER["PUSH1"] + size - 1]) + number.to_bytes(size)


DISPATCH = "0 CALLDATALOAD 0xe0 SHR"


def functions(bodies: dict[int, str], fallback: str = "0 0 REVERT") -> bytes:
    """A contract with Solidity's dispatcher; a body must end by itself."""
    tests = " ".join(f"DUP1 {selector:#x} EQ @f{selector} JUMPI" for selector in bodies)
    blocks = " ".join(f"f{selector}: {body}" for selector, body in bodies.items())
    return assemble(f"{DISPATCH} {tests} {fallback} {blocks}")
