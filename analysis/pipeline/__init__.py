"""One analysis from address to report: rounds, scenarios and what is written down."""
