"""The native format, the compat format derived from it, and the structs of both."""
