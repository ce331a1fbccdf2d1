"""Engine of the serving state in PostgreSQL: connections, transactions, leases."""
