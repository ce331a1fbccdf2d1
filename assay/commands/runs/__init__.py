"""Work of the commands; each module is imported when its command is run."""
