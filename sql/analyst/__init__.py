"""SQL for analysts: views over serving state and lake, each statement in a child process."""
