"""Types of numpy arrays that columns of chain data are made of."""

import numpy as np
import numpy.typing as npt

ByteArray = npt.NDArray[np.uint8]
"""Bytes; the last axis is one value: 20 of an address, 32 of a hash, topic or word."""

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Uint32Array = npt.NDArray[np.uint32]
Uint64Array = npt.NDArray[np.uint64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.intp]
"""Row numbers, as numpy's searches return and its selections take them."""
