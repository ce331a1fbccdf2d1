"""Drills: tests of seeded faults, kills and traps, as long as one likes; `make drill` runs all."""
