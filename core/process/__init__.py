"""Process-level concerns: allocator, priorities, signals, terminal, compression."""
