"""Settings for back-fills of replayed chains."""

from config.settings_model import IndexerSettings
from tests.harness.replay.small_chains import CHAINS

SETTINGS = IndexerSettings(initial_log_range=16, max_log_range=32, commit_rows=500)
SOON_FINAL = min(CHAINS, key=lambda chain: chain.finality_blocks)
"""Nearly all of it is read by range."""
