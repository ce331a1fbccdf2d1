"""Comparisons with the clock: deadlines, cooldowns and limits."""
