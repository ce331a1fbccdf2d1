"""zstd of the standard library, or its backport before Python 3.14.

`decompress` raises ZstdError for data that is cut short or is no zstd.
"""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError, compress, decompress
else:
    from backports.zstd import ZstdDecompressor, ZstdError, compress, decompress

__all__ = ["ZstdDecompressor", "ZstdError", "compress", "decompress"]
