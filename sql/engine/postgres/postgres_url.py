"""URLs of PostgreSQL databases, without their password for display."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from core.errors import StoreError

_UNREADABLE = "the URL cannot be read; user and password have to be percent-encoded in it"


def shown_url(url: str) -> str:
    """Return host, port and database of a URL, without user, password and options.

    Raises StoreError for any other URL, without repeating any of it.
    """
    try:
        parts = conninfo_to_dict(url)
    except (psycopg.Error, UnicodeDecodeError) as error:
        # The original message repeats the URL.
        raise StoreError(path="PostgreSQL", reason=_UNREADABLE) from error
    host, port = str(parts.get("host") or "localhost"), str(parts.get("port") or 5432)
    database = str(parts.get("dbname") or "")
    # libpq takes a part of a password with an @ or a / for one of these.
    if "@" in host + database or not port.replace(",", "").isdecimal():
        raise StoreError(path="PostgreSQL", reason=_UNREADABLE)
    return f"postgresql://{host}:{port}/{database}"
