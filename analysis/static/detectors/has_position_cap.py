"""Detector: a transfer can revert because the recipient would hold too much, from code alone.

Same as `has_position_cap_functionality`; the state step decides whether a cap is in force now.
"""

import msgspec

from analysis.static.detectors import has_position_cap_functionality

DETECTOR = msgspec.structs.replace(has_position_cap_functionality.DETECTOR, key="has_position_cap")
