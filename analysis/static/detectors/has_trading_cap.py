"""One transfer can be refused because of its amount: what code alone tells.

That is the same as for the functionality; the state step says whether a cap is in force now.
"""

import msgspec

from analysis.static.detectors import has_trading_cap_functionality

DETECTOR = msgspec.structs.replace(has_trading_cap_functionality.DETECTOR, key="has_trading_cap")
