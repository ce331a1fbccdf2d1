"""One analysis from address to report: a few round trips, all pinned to one block.

1. look: the gate, burns, owner getters, the oracle, the factories, the balance slots
2. read: pool states, holders, the implementation's code     -> first report, trades pending
3. play: the transfer check and the buys, the owner slots
4. play: the sales                                           -> settled report
"""

import asyncio
from collections.abc import AsyncIterator

from analysis import ownership
from analysis.code import CodeReader, Judged
from analysis.combine import Facts, combine
from analysis.desk import Desk
from analysis.look import Look, look
from analysis.market import PENDING, pick_traded
from analysis.play import play_buys, play_sales
from analysis.state import State, read_state
from config.primitives import Address
from sql.rows import EvidenceRow, Report
