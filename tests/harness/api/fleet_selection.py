"""Tests of the API that run again on a fleet of two processes without a node, in turn.

Left out are tests that look into the application, change it, or assert the behaviour of one
process.
"""

from collections.abc import Sequence

import pytest

FAST = frozenset({"serving/test_error_table"})
"""Modules that CI runs there too; the others are for `make test-fleet`."""

ON_A_FLEET: dict[str, frozenset[str]] = {
    "accuracy/test_disputes": frozenset(
        {
            "test_a_failing_node_ends_a_dispute_after_five_attempts",
            "test_the_chain_decides_and_not_the_statement",
        }
    ),
    "auth/test_agent_keys": frozenset(
        {
            "test_forwarded_headers_count_from_a_trusted_proxy_alone",
            "test_the_other_header_of_a_trusted_proxy_is_its_callers",
            "test_the_trial_key_is_recorded_by_digest_alone",
            "test_without_billing_there_are_no_trials",
        }
    ),
    "formats/test_answers": frozenset(
        {
            "test_a_refusal_of_another_process_is_served_as_much_shorter",
            "test_a_shorter_cache_can_be_set",
            "test_an_answer_is_served_again_for_two_minutes",
            "test_callers_share_one_report_whatever_their_formats",
            "test_the_deployments_minimum_decides_what_is_liquid",
            "test_the_newest_known_clock_places_a_block",
            "test_who_polls_sees_progress",
        }
    ),
    "serving/test_batch": frozenset(
        {
            "test_a_ledger_that_goes_in_the_middle_lets_no_more_through",
            "test_a_limit_that_ends_in_the_middle_costs_what_was_answered",
            "test_a_slow_token_is_pending_and_holds_nobody_up",
            "test_long_answers_come_in_several_calls",
            "test_order_is_kept_and_a_duplicate_answered_and_counted_once",
            "test_so_many_are_worked_out_at_once",
        }
    ),
    "auth/test_key_deadline": frozenset(
        {
            "test_a_ledger_out_of_reach_costs_the_header_and_not_the_answer",
            "test_every_status_tells_it",
        }
    ),
    "serving/test_error_table": frozenset(
        {
            "test_without_billing_no_trial_key_is_issued",
        }
    ),
    "serving/test_errors": frozenset(
        {
            "test_a_fault_logs_its_trace_without_the_key",
            "test_a_fault_outside_the_analysis_tells_nothing",
            "test_a_ledger_out_of_reach_lets_nobody_through",
            "test_a_plan_that_may_recompute_does",
            "test_an_analysis_without_end_is_a_500",
            "test_an_unknown_chain",
            "test_no_key",
        }
    ),
    "formats/test_evidence": frozenset(
        {
            "test_it_shares_the_analysis_and_the_cache",
        }
    ),
    "formats/test_goplus": frozenset(
        {
            "test_a_ledger_out_of_reach_is_their_server_error",
        }
    ),
    "formats/test_goplus_client": frozenset(
        {
            "test_a_slow_token_is_missing_and_can_be_asked_for_again",
        }
    ),
    "kin/test_kin_route": frozenset(
        {
            "test_a_key_is_needed_and_a_store",
            "test_the_page_has_a_table_for_each_known_list",
            "test_the_page_is_for_whom_the_pages_are",
        }
    ),
    "auth/test_limits": frozenset(
        {
            "test_a_month_by_the_calendar_has_no_retry_after",
            "test_counts_outlive_the_process",
        }
    ),
    "mcp/test_mcp": frozenset(
        {
            "test_a_fault_of_ours_tells_nothing",
            "test_a_ledger_out_of_reach_is_an_error_of_the_tool",
            "test_each_tool_says_what_its_route_says",
            "test_every_number_of_a_plan_is_that_of_the_plan",
            "test_it_names_the_chains_and_which_are_served",
            "test_scripts_of_unknown_sites_are_refused",
        }
    ),
    "serving/test_methods": frozenset(
        {
            "test_every_route_is_tried",
            "test_head_counts_as_get_does",
            "test_head_is_get_without_its_body",
        }
    ),
    "pages/test_pages": frozenset(
        {
            "test_a_demo_fills_in_its_key_and_one_of_its_tokens",
            "test_a_plan_without_refreshes_has_those_of_everybody",
            "test_a_stranger_is_asked_for_a_key_and_costs_nothing",
            "test_every_page_is_guarded_also_an_error",
            "test_it_counts_as_one_call",
            "test_who_is_signed_in_pays_with_a_key_of_theirs",
        }
    ),
    "quotes/test_quotes": frozenset(
        {
            "test_a_check_has_the_stored_verdict_and_starts_no_analysis",
            "test_each_counts_as_one_call",
            "test_pages_of_people_without_a_key_are_bounded_as_analyses_are",
            "test_people_get_the_pack_without_a_key_or_a_page_that_says_why_not",
        }
    ),
    "serving/test_requests": frozenset(
        {
            "test_a_key_that_does_not_open",
            "test_bodies",
            "test_booleans_that_need_a_plan",
            "test_spaces_around_a_key_are_not_part_of_it",
            "test_the_boolean_that_asks_for_a_price",
        }
    ),
    "pages/test_search_page": frozenset(
        {
            "test_a_closed_deployment_lists_nothing_to_strangers",
            "test_a_search_is_for_the_chosen_chain_or_the_one_typed",
            "test_a_store_out_of_reach_leaves_the_search_by_address",
            "test_an_address_leads_to_its_token",
            "test_an_address_without_a_chain_leads_where_it_is_known",
            "test_searches_count_as_pages",
            "test_the_front_page_lists_the_newest_and_the_richest",
            "test_the_page_of_an_imitation_says_so_too",
            "test_the_tokens_that_exchanges_quote_in_come_first_unseen_too",
            "test_what_imitates_a_known_token_is_marked",
        }
    ),
    "serving/test_status": frozenset(
        {
            "test_metrics_behind_a_token",
            "test_metrics_that_have_an_address_of_their_own_are_not_served_here",
            "test_not_ready_when_one_is_not",
            "test_ready_when_every_chain_is",
        }
    ),
    "pages/test_token_page": frozenset(
        {
            "test_a_market_data_service_that_hangs_or_fails_keeps_nobody_waiting",
            "test_a_price_from_elsewhere_has_its_source_and_time",
            "test_analyse_again_makes_one_new_analysis_within_the_limits",
            "test_the_card_is_of_what_is_stored_and_costs_nothing",
        }
    ),
    "auth/test_usage": frozenset(
        {
            "test_a_ledger_out_of_reach_is_a_503",
            "test_calls_that_are_not_yet_in_the_ledger_are_seen",
            "test_windows_and_days_move_on",
            "test_windows_that_are_shared_are_told_as_shared",
        }
    ),
    "watches/test_feed": frozenset({"test_launch_withdrawal_and_verdict_have_their_cause"}),
    "watches/test_watches_route": frozenset(
        {
            "test_a_deployment_without_a_store_says_so",
            "test_a_key_may_open_so_many_streams",
            "test_a_store_out_of_reach_is_no_fault_of_ours",
            "test_a_stream_ends_with_its_watch_its_key_and_the_service",
            "test_an_operator_may_allow_http_and_private_addresses",
            "test_plans_limit_watches_and_tokens",
            "test_the_dashboard_lists_and_changes_watches_of_ones_own_keys",
            "test_what_is_forgotten_is_said_as_a_gap",
        }
    ),
}
"""Modules, as paths below tests/, with the tests of each that are left out."""


def marks_on_a_fleet(module: str, test: str) -> Sequence[pytest.MarkDecorator] | None:
    """The marks of a test on a fleet. None: it runs in this process only."""
    if module not in ON_A_FLEET or test in ON_A_FLEET[module]:
        return None
    return [pytest.mark.fleet, *(() if module in FAST else (pytest.mark.second_engine,))]
