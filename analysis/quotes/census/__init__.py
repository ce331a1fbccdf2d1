"""Census of sales by real holders: sellers, deciding entries, and their writers."""
