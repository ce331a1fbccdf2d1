# %% [markdown]
# # Ten questions
#
# Each cell answers one question with SQL on the views, and plots the result. This Python file is
# in the percent format: Jupyter (with Jupytext), VS Code and PyCharm open it as a notebook, and
# `python ten_questions.py` runs it to its end. It needs `pip install 'assay[analyst]'`, or
# matplotlib and DuckDB of the version that the store's script names.
#
# `ASSAY_STORE` names the store. `SURVIVAL_S` is the age in seconds at which a launch counts as
# alive (default 3600), `PICTURES` the folder for the pictures.

# %%
import os
from pathlib import Path

import duckdb
import matplotlib as mpl
from matplotlib.axes import Axes

if __name__ == "__main__":
    mpl.use("Agg")  # run as a program it opens no window
import matplotlib.pyplot as plt

SURVIVAL_S = int(os.environ.get("SURVIVAL_S", "3600"))
PICTURES = Path(os.environ.get("PICTURES", "pictures"))
PICTURES.mkdir(parents=True, exist_ok=True)
COLOURS = {"danger": "#b3261e", "warning": "#e09b2d", "safe": "#1e6b3a", "not_tested": "#8a909c"}

store = duckdb.connect()
store.execute(Path(os.environ["ASSAY_STORE"] + ".open.sql").read_text(encoding="utf-8"))

Rows = list[tuple]
answers: dict[str, Rows] = {}


def ask(question: str, sql: str, **numbers: int) -> Rows:
    """Return the rows of a statement, and keep them by the name of the question."""
    answers[question] = store.execute(sql, numbers or None).fetchall()
    return answers[question]


def draw(question: str, title: str) -> Axes:
    """Return an empty picture. The one before is in its file by now."""
    plt.close("all")
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    figure.canvas.manager.set_window_title(question)
    axes.set_title(title)
    return axes


def keep(question: str) -> None:
    """Write the picture to its file, and show it where there is a notebook."""
    plt.gcf().savefig(PICTURES / f"{question}.png", dpi=120)
    plt.show()


# %% [markdown]
# ## 1. Which platforms launch how many tokens?

# %%
rows = ask(
    "launches",
    "select launchpad, count(*) from v_launches group by launchpad order by 2 desc, 1",
)
axes = draw("launches", "Launches by platform")
axes.bar([name for name, _ in rows], [count for _, count in rows])
axes.set_ylabel("tokens")
keep("launches")

# %% [markdown]
# ## 2. How many launches survive their first hour?
#
# A launch is alive if its token moves after the time has passed. One that is younger than that is
# neither alive nor dead.

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
bottom = [0] * len(rows)
for at, (label, colour) in enumerate(
    [("alive", "#1e6b3a"), ("dead", "#b3261e"), ("too young to tell", "#8a909c")], start=1
):
    heights = [row[at] for row in rows]
    axes.bar([row[0] for row in rows], heights, bottom=bottom, label=label, color=colour)
    bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
axes.set_ylabel("tokens")
axes.legend()
keep("survival")

# %% [markdown]
# ## 3. What taxes do the venues' pools take?
#
# Only simulated trades have a tax. What was refused or not tried is not a tax of zero.

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
venues = sorted({row[0] for row in rows})
axes = draw("taxes", "Taxes by venue, one point a pool")
for side, (label, marker) in enumerate([("buy", "o"), ("sell", "x")], start=2):
    points = [(venues.index(row[0]), row[side]) for row in rows if row[side] is not None]
    axes.scatter(
        [place + (side - 2.5) / 5 for place, _ in points],
        [tax for _, tax in points],
        marker=marker,
        label=label,
        alpha=0.6,
    )
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
axes.bar([str(row[0]) for row in rows], [row[1] for row in rows], color=COLOURS["danger"])
axes.set_ylabel("tokens")
keep("honeypots")

# %% [markdown]
# ## 5. Is a token of few holders a worse one?

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
kinds = [verdict for verdict in COLOURS if any(row[1] == verdict for row in rows)]
if kinds:
    axes.boxplot([[row[2] for row in rows if row[1] == verdict] for verdict in kinds])
axes.set_xticks(range(1, len(kinds) + 1), kinds)
axes.set_ylabel("percent of the supply")
keep("concentration")

# %% [markdown]
# ## 6. What are the verdicts?

# %%
rows = ask("verdicts", "select verdict, count(*) from v_verdicts group by verdict order by 1")
axes = draw("verdicts", "Verdicts")
axes.bar([row[0] for row in rows], [row[1] for row in rows], color=[COLOURS[r[0]] for r in rows])
axes.set_ylabel("tokens")
keep("verdicts")

# %% [markdown]
# ## 7. What is found most often?

# %%
rows = ask(
    "findings",
    """
    select flag, status, count(*)
    from v_flags where status in ('danger', 'warning')
    group by all order by 3 desc, 1
    """,
)
axes = draw("findings", "Findings, the fifteen most frequent")
shown = rows[:15][::-1]
axes.barh([row[0] for row in shown], [r[2] for r in shown], color=[COLOURS[r[1]] for r in shown])
axes.set_xlabel("tokens")
keep("findings")

# %% [markdown]
# ## 8. Which checks have no answer?
#
# Leaving these out of a rate biases it towards safe.

# %%
rows = ask(
    "unknown",
    """
    select flag, count(*) filter (status = 'unknown') as unknown, count(*) as asked
    from v_flags group by flag having unknown > 0 order by 2 desc, 1
    """,
)
axes = draw("unknown", "Checks without an answer")
shown = rows[:15][::-1]
axes.barh([row[0] for row in shown], [100 * row[1] / row[2] for row in shown])
axes.set_xlabel("percent of the tokens")
keep("unknown")

# %% [markdown]
# ## 9. Where is traded, and when?

# %%
rows = ask(
    "trades",
    """
    select date_trunc('hour', block_time) as hour, dex, count(*)
    from v_trades group by all order by all
    """,
)
hours = sorted({row[0] for row in rows})
axes = draw("trades", "Trades by hour and venue")
bottom = [0] * len(hours)
for venue in sorted({row[1] for row in rows}):
    heights = [sum(r[2] for r in rows if r[:2] == (hour, venue)) for hour in hours]
    axes.bar([f"{hour:%d. %H:%M}" for hour in hours], heights, bottom=bottom, label=venue)
    bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
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
    [waited for _, waited in rows], [100 * at / len(rows) for at in range(1, len(rows) + 1)],
    where="post",
)  # fmt: skip
axes.set_xlabel("seconds")
axes.set_ylabel("percent of the traded tokens")
keep("first_trade")
