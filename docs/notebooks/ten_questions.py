# %% [markdown]
# # Ten questions
#
# Each cell answers one question with SQL on the views, and plots the frame of its rows. This file
# is in the percent format: Jupyter (with Jupytext), VS Code and PyCharm open it as a notebook, and
# `python ten_questions.py` runs it to the end. It needs the extra `assay[analyst]`, or matplotlib,
# Polars, and DuckDB of the version that the store's script names.
#
# `ASSAY_STORE` names the store. `SURVIVAL_S` is the age in seconds at which a launch counts as
# alive (default 3600), `PICTURES` the folder for the pictures.

# %%
import os
from pathlib import Path

import duckdb
import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes

if __name__ == "__main__":
    mpl.use("Agg")  # a program opens no window
import matplotlib.pyplot as plt

SURVIVAL_S = int(os.environ.get("SURVIVAL_S", "3600"))
PICTURES = Path(os.environ.get("PICTURES", "pictures"))
PICTURES.mkdir(parents=True, exist_ok=True)
COLOURS = {"danger": "#b3261e", "warning": "#e09b2d", "safe": "#1e6b3a", "not_tested": "#8a909c"}

store = duckdb.connect()
store.execute(Path(os.environ["ASSAY_STORE"] + ".open.sql").read_text(encoding="utf-8"))

answers: dict[str, pl.DataFrame] = {}


def ask(question: str, sql: str, **numbers: int) -> pl.DataFrame:
    """Run a statement, and keep the frame of its rows under the name of the question."""
    answers[question] = pl.DataFrame(store.sql(sql, params=numbers))
    return answers[question]


def draw(question: str, title: str) -> Axes:
    """Start a new picture."""
    plt.close("all")
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    figure.canvas.manager.set_window_title(question)
    axes.set_title(title)
    return axes


def keep(question: str) -> None:
    """Write the picture to its file, and show it in a notebook."""
    plt.gcf().savefig(PICTURES / f"{question}.png", dpi=120)
    plt.show()


# %% [markdown]
# ## 1. Which platforms launch how many tokens?

# %%
rows = ask(
    "launches",
    "select launchpad, count(*) as tokens from v_launches group by launchpad order by 2 desc, 1",
)
axes = draw("launches", "Launches by platform")
axes.bar(rows["launchpad"], rows["tokens"])
axes.set_ylabel("tokens")
keep("launches")

# %% [markdown]
# ## 2. How many launches survive their first hour?
#
# A launch is alive if its token moves after that time. A younger launch is neither alive nor dead.

# %%
rows = ask(
    "survival",
    """
    with head as (
        select chain, max(block_time) as at from v_checkpoints group by chain
    ),
    launch as (
        select
            l.launchpad, l.chain, l.token,
            min(t.block_time) + to_seconds($survival_s) as judged_at,
            max(t.block_time) as last_moved
        from v_launches l
        join v_transfers t
            on t.chain = l.chain and t.token = l.token and t.block_number >= l.block_number
        group by all
    )
    select
        launchpad,
        count(*) filter (last_moved >= judged_at) as alive,
        count(*) filter (last_moved < judged_at and judged_at <= head.at) as dead,
        count(*) filter (last_moved < judged_at and judged_at > head.at) as too_young
    from launch join head using (chain)
    group by launchpad order by launchpad
    """,
    survival_s=SURVIVAL_S,
)
axes = draw("survival", f"Launches {SURVIVAL_S} seconds after their start")
bottom = pl.repeat(0, rows.height, eager=True)
for column, label, colour in (
    ("alive", "alive", "#1e6b3a"),
    ("dead", "dead", "#b3261e"),
    ("too_young", "too young to tell", "#8a909c"),
):
    axes.bar(rows["launchpad"], rows[column], bottom=bottom, label=label, color=colour)
    bottom += rows[column]
axes.set_ylabel("tokens")
axes.legend()
keep("survival")

# %% [markdown]
# ## 3. What taxes do the venues' pools take?
#
# Only simulated trades have a tax. A refused or untried trade does not have a tax of zero.

# %%
rows = ask(
    "taxes",
    """
    select dex, symbol, buy_tax_pct, sell_tax_pct
    from v_pool_results
    where buy_tax_pct is not null or sell_tax_pct is not null
    order by all
    """,
)
venues = rows["dex"].unique().sort()
axes = draw("taxes", "Taxes by venue, one point a pool")
for side, offset, marker in (("buy", -0.1, "o"), ("sell", 0.1, "x")):
    taxed = rows.filter(pl.col(f"{side}_tax_pct").is_not_null())
    places = [venues.index_of(dex) + offset for dex in taxed["dex"]]
    axes.scatter(places, taxed[f"{side}_tax_pct"], marker=marker, label=side, alpha=0.6)
axes.set_xticks(range(len(venues)), venues, rotation=20, ha="right")
axes.set_ylabel("tax, percent")
axes.legend()
keep("taxes")

# %% [markdown]
# ## 4. How many honeypots come up each day?
#
# A honeypot can be bought and not sold. Its day is that of its first transfer.

# %%
rows = ask(
    "honeypots",
    """
    with born as (
        select chain, token, min(block_time)::date as day from v_transfers group by all
    )
    select
        day,
        count(*) filter (can_buy and not can_sell) as honeypots,
        count(*) filter (can_buy and can_sell) as tradable,
        count(*) filter (can_buy is null or can_sell is null or not can_buy) as others
    from v_verdicts join born using (chain, token)
    where day is not null
    group by day order by day
    """,
)
axes = draw("honeypots", "Honeypots among new tokens, by day")
axes.bar(rows["day"].cast(pl.String), rows["honeypots"], color=COLOURS["danger"])
axes.set_ylabel("tokens")
keep("honeypots")

# %% [markdown]
# ## 5. Are tokens with few holders worse?

# %%
rows = ask(
    "concentration",
    """
    select v.token, v.verdict, max(h.held_pct) as largest_pct
    from v_verdicts v
    join v_holders h using (chain, token)
    where h.role = 'top' and h.held_pct is not null
    group by all order by all
    """,
)
axes = draw("concentration", "Share of the largest holder, by verdict")
kinds = [verdict for verdict in COLOURS if verdict in rows["verdict"]]
if kinds:
    shares = [rows.filter(pl.col("verdict") == verdict)["largest_pct"] for verdict in kinds]
    axes.boxplot([share.to_list() for share in shares])
axes.set_xticks(range(1, len(kinds) + 1), kinds)
axes.set_ylabel("percent of the supply")
keep("concentration")

# %% [markdown]
# ## 6. What are the verdicts?

# %%
rows = ask(
    "verdicts", "select verdict, count(*) as tokens from v_verdicts group by verdict order by 1"
)
axes = draw("verdicts", "Verdicts")
axes.bar(rows["verdict"], rows["tokens"], color=[COLOURS[verdict] for verdict in rows["verdict"]])
axes.set_ylabel("tokens")
keep("verdicts")

# %% [markdown]
# ## 7. Which findings are the most frequent?

# %%
rows = ask(
    "findings",
    """
    select flag, status, count(*) as tokens
    from v_flags where status in ('danger', 'warning')
    group by all order by 3 desc, 1
    """,
)
axes = draw("findings", "Findings, the fifteen most frequent")
shown = rows.head(15).reverse()
axes.barh(shown["flag"], shown["tokens"], color=[COLOURS[status] for status in shown["status"]])
axes.set_xlabel("tokens")
keep("findings")

# %% [markdown]
# ## 8. Which checks have no answer?
#
# A rate that leaves these out is biased towards safe.

# %%
rows = ask(
    "unknown",
    """
    select flag, count(*) filter (status = 'unknown') as unknown, count(*) as asked
    from v_flags group by flag having unknown > 0 order by 2 desc, 1
    """,
)
axes = draw("unknown", "Checks without an answer")
shown = rows.head(15).reverse()
axes.barh(shown["flag"], 100 * shown["unknown"] / shown["asked"])
axes.set_xlabel("percent of the tokens")
keep("unknown")

# %% [markdown]
# ## 9. Where and when are tokens traded?

# %%
rows = ask(
    "trades",
    """
    select date_trunc('hour', block_time) as hour, dex, count(*) as trades
    from v_trades group by all order by all
    """,
)
by_hour = rows.pivot("dex", index="hour", values="trades").sort("hour").fill_null(0)
axes = draw("trades", "Trades by hour and venue")
bottom = pl.repeat(0, by_hour.height, eager=True)
for venue in sorted(by_hour.columns[1:]):
    axes.bar(by_hour["hour"].dt.strftime("%d. %H:%M"), by_hour[venue], bottom=bottom, label=venue)
    bottom += by_hour[venue]
axes.tick_params(axis="x", rotation=30)
axes.set_ylabel("trades")
axes.legend(fontsize="small")
keep("trades")

# %% [markdown]
# ## 10. How long does a token wait for its first trade?

# %%
rows = ask(
    "first_trade",
    """
    with born as (
        select chain, token, min(block_time) as at from v_transfers group by all
    ),
    traded as (
        select chain, token, min(block_time) as at from v_swaps group by all
    )
    select token, epoch(traded.at - born.at)::bigint as waited_s
    from born join traded using (chain, token)
    where born.at is not null
    order by 2, 1
    """,
)
axes = draw("first_trade", "From the first transfer to the first trade")
axes.step(
    rows["waited_s"],
    [100 * at / rows.height for at in range(1, rows.height + 1)],
    where="post",
)
axes.set_xlabel("seconds")
axes.set_ylabel("percent of the traded tokens")
keep("first_trade")
