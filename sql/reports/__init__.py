"""Reports: bodies, findings, history, verdicts and accuracy counts."""
