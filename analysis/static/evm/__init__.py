"""Symbolic execution of EVM code: expressions, memory, basic blocks, paths and their CFG."""
