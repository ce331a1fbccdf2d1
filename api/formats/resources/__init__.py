"""Answers on one token besides its report: exit quote, liquidity, hooks, kin, trade check."""
