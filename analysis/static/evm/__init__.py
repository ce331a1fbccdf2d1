"""Symbolic execution: expressions, memory, basic blocks, the explored paths and their CFG."""
