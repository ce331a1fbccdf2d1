"""Protects published numbers: plans, and the burn set."""

from pathlib import Path

import pytest

from config.burn import BURN_ADDRESSES, load_burn_addresses
from config.plans import load_plans
from core.errors import ConfigError

# The specification, "Trial key limits", and decisions.md, "Keys, plans, sign-in", as
# (burst in 10 s, minute, day, month, lifetime, days, may refresh).
PLANS = {
    "trial": (5, 20, 25, None, 100, 14, False),
    "developer": (20, 120, 5_000, 100_000, None, 365, False),
    "pro": (100, 1_000, 100_000, 2_000_000, None, None, False),
    "enterprise": (500, 6_000, 1_000_000, 20_000_000, None, None, True),
    "admin": (None, None, None, None, None, None, True),
}


def test_plans_are_as_decided() -> None:
    loaded = {
        name: (
            plan.burst_limit,
            plan.per_minute,
            plan.per_day,
            plan.per_month,
            plan.lifetime,
            plan.expires_after_days,
            plan.may_refresh,
        )
        for name, plan in load_plans().items()
    }
    assert loaded == PLANS
    assert {plan.burst_window_s for plan in load_plans().values()} == {10, None}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[[plan]]\nname = "a"', "plan[0].may_refresh"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\nper_hour = 1', "plan[0].per_hour"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\nper_day = 0', "plan[0].per_day"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\nburst_limit = 5', "plan[0].burst_window_s"),
        ('[[plan]]\nname = "a"\nmay_refresh = true\n' * 2, "plan[1].name"),
    ],
)
def test_a_mistake_in_the_plans_names_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "plans.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_plans(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)


def test_the_burn_set_has_the_five_addresses() -> None:
    assert len(BURN_ADDRESSES) == 5
    assert sum(int(address, 16) <= 1 for address in BURN_ADDRESSES) == 2
    assert sum("dead" in address for address in BURN_ADDRESSES) == 3


def test_a_mistake_in_the_burn_set_names_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "burn.toml"
    path.write_text('addresses = ["0xdead"]')
    with pytest.raises(ConfigError) as caught:
        load_burn_addresses(path)
    assert (caught.value.source, caught.value.key) == (str(path), "addresses[0]")
