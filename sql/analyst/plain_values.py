"""Values of a result as ones that JSON carries unchanged."""

import math

_LARGEST_JSON_INT = 2**63


def plain_value(value: object) -> object:
    """Convert a value: integers beyond 64 bits, times and decimals become text; bytes 0x text."""
    plain: object = str(value)
    if value is None or isinstance(value, (bool, str)):
        plain = value
    elif isinstance(value, int):
        plain = value if -_LARGEST_JSON_INT <= value < _LARGEST_JSON_INT else plain
    elif isinstance(value, float):
        plain = value if math.isfinite(value) else plain
    elif isinstance(value, (bytes, bytearray)):
        plain = "0x" + value.hex()
    elif isinstance(value, (list, tuple)):
        plain = [plain_value(item) for item in value]
    elif isinstance(value, dict):
        plain = {str(key): plain_value(item) for key, item in value.items()}
    return plain
