"""All checks in the order they are run. Identity and head come first: the others need them."""

from assay.doctor.abilities import (
    head_checks,
    limit_checks,
    log_checks,
    method_checks,
    simulation_checks,
    state_checks,
)
from assay.doctor.check import Check
from assay.doctor.facts import announcement_checks, coin_checks, contract_checks, pool_checks

IDENTITY: Check = head_checks.CHAIN_ID
"""Run before a head is read. If it fails, no other check is run."""

CHECKS: tuple[Check, ...] = (
    head_checks.HEAD_AGE,
    head_checks.BLOCKS_BY_HASH,
    head_checks.FINALITY,
    head_checks.ANNOUNCED_HEADS,
    method_checks.METHODS_PRESENT,
    state_checks.PINNED_STATE,
    state_checks.CALL_OVERRIDES,
    state_checks.PACKED_READS,
    state_checks.OLD_STATES,
    simulation_checks.SIMULATION,
    simulation_checks.SIMULATED_BLOCKS,
    simulation_checks.SIMULATED_BASE_FEE,
    simulation_checks.SIMULATION_VALIDATION,
    simulation_checks.CALL_TRACES,
    simulation_checks.FEE_HISTORY,
    log_checks.LOGS_OF_ALL,
    log_checks.BLOCK_LOGS,
    log_checks.LOG_RANGES,
    log_checks.LOG_GAPS,
    log_checks.BLOCK_RECEIPTS,
    limit_checks.BATCHES,
    limit_checks.MESSAGE_SIZES,
    limit_checks.LATENCY,
    contract_checks.CONTRACT_CODE,
    contract_checks.NAMED_FACTORIES,
    coin_checks.WRAPPED_COIN,
    coin_checks.STABLE_COINS,
    coin_checks.PRICE_FEED,
    pool_checks.KNOWN_POOL,
    announcement_checks.POOLS_ANNOUNCED,
    announcement_checks.LAUNCHES_ANNOUNCED,
    announcement_checks.START_BLOCKS,
    # last: the rate limit that it provokes lasts for a while
    limit_checks.RATE_LIMIT,
)
