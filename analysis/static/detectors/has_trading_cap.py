"""Detector: a transfer can revert because of its amount, from code alone.

Same as `has_trading_cap_functionality`; the state step decides whether a cap is in force now.
"""

import msgspec

from analysis.static.detectors import has_trading_cap_functionality

DETECTOR = msgspec.structs.replace(has_trading_cap_functionality.DETECTOR, key="has_trading_cap")
