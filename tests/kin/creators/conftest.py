"""Creations are read from the states before and after them."""

from tests.harness.chain import old_states

anvil_node, demo_world, facts = old_states.anvil_node, old_states.demo_world, old_states.facts
