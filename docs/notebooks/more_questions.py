# %% [markdown]
# # Ten more questions
#
# Launches, and what becomes of them. As in `ten_questions.py`, each cell answers one question with
# SQL on the views; it ends with a frame of Polars. The table above a cell is its answer on the
# five tokens of `tests/analyst/test_more_questions.py`, so that you know what to expect.
#
# This file opens as a notebook, and `python more_questions.py` prints all answers. It needs the
# extra `assay[analyst]`, or Polars, and DuckDB of the version that the store's script names.
# `ASSAY_STORE` names the store.

# %%
import os
from pathlib import Path

import duckdb
import polars as pl

store = duckdb.connect()
store.execute(Path(os.environ["ASSAY_STORE"] + ".open.sql").read_text(encoding="utf-8"))

answers: dict[str, pl.DataFrame] = {}


def ask(sql: str) -> pl.DataFrame:
    """Return the rows of a statement."""
    return pl.DataFrame(store.sql(sql))


def show(question: str, rows: pl.DataFrame) -> None:
    """Keep the answer under the name of its question, and print it."""
    answers[question] = rows
    with pl.Config(tbl_rows=40, tbl_cols=12, fmt_str_lengths=42, tbl_width_chars=140):
        print(f"{question}\n{rows}")


# %% [markdown]
# ## 1. How many tokens does each platform launch per hour?
#
# | hour | alpha | beta |
# |---|---|---|
# | 2023-11-14 22:00 | 2 | 0 |
# | 2023-11-14 23:00 | 0 | 2 |
# | 2023-11-15 00:00 | 0 | 1 |

# %%
launches = ask("select launchpad, block_time from v_launches where block_time is not null")
rows = launches.with_columns(hour=pl.col("block_time").dt.truncate("1h"))
by_hour = rows.pivot("launchpad", index="hour", values="block_time", aggregate_function="len")
platforms = sorted(by_hour.columns[1:])
show("launches_per_hour", by_hour.select("hour", pl.col(platforms).fill_null(0)).sort("hour"))

# %% [markdown]
# ## 2. How long does liquidity stay?
#
# Minutes from a pool's first shares until half of all its shares had been returned to it. Null:
# that has not happened. Only traded pools with shares are here, up to 32 days old; those with
# positions have other events.
#
# | symbol | returned_pct | half_after_min |
# |---|---|---|
# | EARLY | 60 | 15 |
# | GOOD | 10 | - |
# | NEW | 0 | - |
# | RUG | 100 | 25 |
# | WASH | 0 | - |

# %%
shares = ask("""
    select distinct chain, token, symbol, pool_key, event, block_time, block_number, log_index, data
    from v_liquidity_events
    join (select distinct chain, token, symbol, pool_key from v_swaps) using (chain, pool_key)
    where event in ('shares_made', 'shares_returned')
""")
pool = ("chain", "token", "pool_key")
amount = pl.col("data").map_elements(lambda data: float(int(data, 16)), return_dtype=pl.Float64)
rows = (
    shares.sort("block_number", "log_index")
    .with_columns(
        made=pl.when(pl.col("event") == "shares_made")
        .then(amount)
        .otherwise(0.0)
        .cum_sum()
        .over(pool),
        returned=pl.when(pl.col("event") == "shares_returned")
        .then(amount)
        .otherwise(0.0)
        .cum_sum()
        .over(pool),
    )
    .group_by(pool)
    .agg(
        pl.col("symbol").first(),
        returned_pct=100 * pl.col("returned").last() / pl.col("made").last(),
        half_after_min=(
            pl.col("block_time").filter(pl.col("returned") >= pl.col("made") / 2).first()
            - pl.col("block_time").first()
        ).dt.total_minutes(),
    )
)
show("liquidity_stay", rows.sort("symbol").select("symbol", "returned_pct", "half_after_min"))
withdrawn = rows.filter(pl.col("half_after_min").is_not_null()).select("chain", "token").unique()

# %% [markdown]
# ## 3. How do the tokens of each creator end?
#
# The first outcome that holds counts: liquidity withdrawn (by question 2), cannot be sold, or the
# verdict.
#
# | creator | cannot_sell | safe | warning | withdrawn |
# |---|---|---|---|---|
# | 0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1 | 0 | 1 | 1 | 0 |
# | 0xc2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2 | 0 | 0 | 0 | 2 |
# | 0xc3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3 | 1 | 0 | 0 | 0 |

# %%
created = ask("""
    select v_tokens.chain, token, creator_address as creator, verdict, can_sell
    from v_tokens
    join v_verdicts on v_verdicts.chain = v_tokens.chain and token = address
    where creator_address is not null
""")
rows = created.join(
    withdrawn.with_columns(is_withdrawn=True), on=("chain", "token"), how="left"
).with_columns(
    outcome=pl.when(pl.col("is_withdrawn"))
    .then(pl.lit("withdrawn"))
    .when(pl.col("can_sell").not_())
    .then(pl.lit("cannot_sell"))
    .otherwise("verdict")
)
outcomes = rows.pivot("outcome", index="creator", values="token", aggregate_function="len")
kinds = sorted(outcomes.columns[1:])
show("creators", outcomes.select("creator", pl.col(kinds).fill_null(0)).sort("creator"))

# %% [markdown]
# ## 4. Which tokens have signs of wash trading?
#
# Signs, not proofs: market makers trade like this, too.
#
# | symbol | traders | round_trip_pct | mechanical_pct | farmed_traders | is_one_way |
# |---|---|---|---|---|---|
# | WASH | 2 | 80 | 0 | 0 | false |

# %%
signs = ask("""
    select
        symbol, traders,
        100 * coalesce(round_trip_share, 0) as round_trip_pct,
        100 * coalesce(mechanical_share, 0) as mechanical_pct,
        farmed_traders, is_one_way
    from v_flow_honesty
    where round_trip_pct > 50 or mechanical_pct > 50 or farmed_traders > 0 or is_one_way
    order by round_trip_pct desc, mechanical_pct desc, symbol
""")
show("wash_trading", signs)

# %% [markdown]
# ## 5. Does a finding predict the end of trading?
#
# Share of the tokens that still traded an hour after their first trade, by finding. Tokens younger
# than that are left out, and so are checks without an answer.
#
# | flag | with_it | survived_pct | without_it | others_survived_pct |
# |---|---|---|---|---|
# | high_tax | 1 | 0 | 3 | 66.7 |
# | liquidity_can_leave | 3 | 33.3 | 1 | 100 |

# %%
survival = ask("""
    with head as (
        select chain, max(block_time) as at from v_checkpoints group by chain
    ),
    traded as (
        select chain, token, min(block_time) + interval 1 hour as judged_at,
            max(block_time) >= judged_at as survived
        from v_swaps group by chain, token
    ),
    known as (
        select chain, token, flag, status in ('danger', 'warning') as is_found
        from v_flags where status <> 'unknown'
    )
    select
        flag,
        count(*) filter (is_found) as with_it,
        round(100 * avg(survived::integer) filter (is_found), 1) as survived_pct,
        count(*) filter (not is_found) as without_it,
        round(100 * avg(survived::integer) filter (not is_found), 1) as others_survived_pct
    from known join traded using (chain, token) join head using (chain)
    where judged_at <= head.at
    group by flag having with_it > 0
    order by with_it, flag
""")
show("survival_by_flag", survival)

# %% [markdown]
# ## 6. How much of the supply goes to snipers and bundles?
#
# Purchases of their accounts within the stored first trades, in percent of the supply.
#
# | symbol | accounts | bought_pct |
# |---|---|---|
# | RUG | 1 | 5 |

# %%
early = ask("""
    with quick as (
        select distinct chain, token, wallet
        from v_launch_wallets where role in ('sniper', 'bundle')
    )
    select early.symbol, count(distinct wallet) as accounts, sum(supply_pct) as bought_pct
    from quick
    join v_early_trades early
        on early.chain = quick.chain and early.token = quick.token and early.trader = quick.wallet
    where side = 'buy' and supply_pct is not null
    group by quick.chain, quick.token, early.symbol
    order by bought_pct desc, early.symbol
""")
show("snipers", early)

# %% [markdown]
# ## 7. Which taxes rose after the first report?
#
# | symbol | tax | before | after | hours |
# |---|---|---|---|---|
# | EARLY | sell_tax | 2 | 90 | 1.5 |

# %%
changed = ask("""
    with first as (
        select chain, token, min(scanned_at) as at from v_report_history group by chain, token
    )
    select
        symbol, what as tax, before::double as before, after::double as after,
        epoch(scanned_at - first.at) / 3600 as hours
    from v_changes join first using (chain, token)
    where what in ('buy_tax', 'sell_tax') and after::double > before::double
    order by after::double - before::double desc, symbol
""")
show("tax_rises", changed)

# %% [markdown]
# ## 8. Which harmful powers remain, and which accounts hold them?
#
# | what | holder_kind | tokens |
# |---|---|---|
# | mint | wallet | 2 |
# | tax | wallet | 1 |

# %%
powers = ask("""
    select what, holder_kind, count(distinct (chain, token)) as tokens
    from v_powers
    where not is_harmless and not is_bound
    group by what, holder_kind order by tokens desc, what, holder_kind
""")
show("powers", powers)

# %% [markdown]
# ## 9. How far has each token fallen from its peak?
#
# From the highest price of an hour to the last known one, with the USD traded in all hours.
#
# | symbol | peak_usd | last_usd | fall_pct | volume_usd |
# |---|---|---|---|---|
# | RUG | 4 | 1 | 75 | 500 |
# | EARLY | 2 | 1 | 50 | 3 |
# | GOOD | 2 | 2 | 0 | 30 |
# | NEW | 1 | 1 | 0 | 1 |
# | WASH | 1 | 1 | 0 | 500 |

# %%
hours = ask("select chain, token, symbol, hour, high_usd, close_usd, volume_usd from v_token_hours")
rows = (
    hours.sort("hour")
    .group_by("chain", "token")
    .agg(
        pl.col("symbol").last(),
        peak_usd=pl.col("high_usd").max(),
        last_usd=pl.col("close_usd").drop_nulls().last(),
        volume_usd=pl.col("volume_usd").sum(),
    )
    .with_columns(fall_pct=100 * (1 - pl.col("last_usd") / pl.col("peak_usd")))
    .sort("fall_pct", "symbol", descending=(True, False), nulls_last=True)
)
show("falls", rows.select("symbol", "peak_usd", "last_usd", "fall_pct", "volume_usd"))

# %% [markdown]
# ## 10. How often are predictions wrong?
#
# A disagreement is explained if the token had changed in between.
#
# | flag | observations | disagreements | unexplained_per_1000 |
# |---|---|---|---|
# | sell_success | 500 | 3 | 4 |
# | sell_tax | 200 | 0 | 0 |

# %%
accuracy = ask("""
    select
        flag, sum(observations)::bigint as observations,
        sum(disagreements)::bigint as disagreements,
        1000 * sum(disagreements - explained) / sum(observations) as unexplained_per_1000
    from v_accuracy
    group by flag having sum(observations) > 0 order by flag
""")
show("predictions", accuracy)
