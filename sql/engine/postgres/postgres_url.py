"""URLs of PostgreSQL databases: they hold a password, so they are shown without."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from core.errors import StoreError

_UNREADABLE = "the URL cannot be read; user and password have to be percent-encoded in it"


def shown_url(url: str) -> str:
    """Return host, port and database of a URL, without user, password and options.

    Raises StoreError where it is no URL of a PostgreSQL database, without repeating any of it.
    """
    try:
        parts = conninfo_to_dict(url)
    except (psycopg.Error, UnicodeDecodeError) as error:
        # Their own words repeat the URL.
        raise StoreError(path="PostgreSQL", reason=_UNREADABLE) from error
    host, port = str(parts.get("host") or "localhost"), str(parts.get("port") or 5432)
    database = str(parts.get("dbname") or "")
    # Of a password with an @ or a / in it libpq takes a part for one of these.
    if "@" in host + database or not port.replace(",", "").isdecimal():
        raise StoreError(path="PostgreSQL", reason=_UNREADABLE)
    return f"postgresql://{host}:{port}/{database}"
