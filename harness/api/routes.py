"""Every route of the service, as a path that can be called."""

from harness.api.samples import TOKEN

ROUTES: tuple[tuple[str, str], ...] = (
    ("GET", f"/token/1/{TOKEN}"),
    ("GET", f"/token/1/{TOKEN}/summary"),
    ("GET", f"/token/1/{TOKEN}/evidence"),
    ("POST", "/tokens/1"),
    ("GET", f"/goplus/api/v1/token_security/1?contract_addresses={TOKEN}"),
    ("POST", "/goplus/api/v1/token"),
    ("POST", "/mcp"),
    ("GET", "/usage"),
    ("POST", "/agent-keys"),
    ("GET", "/llms.txt"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/metrics"),
    ("GET", "/schema"),
    ("GET", "/schema/openapi.json"),
    ("GET", "/schema/nothing"),
    ("GET", "/"),
    ("GET", "/search?q=nothing"),
    ("GET", "/robots.txt"),
    ("GET", "/browse"),
    ("GET", "/assets/pages.css"),
    ("GET", "/login"),
    ("GET", "/login/callback"),
    ("POST", "/logout"),
    ("GET", "/dashboard"),
    ("POST", "/dashboard/keys"),
    ("POST", "/dashboard/keys/1/revoke"),
    ("GET", "/t"),
    ("GET", f"/t/1/{TOKEN}"),
    ("POST", f"/t/1/{TOKEN}"),
    ("GET", f"/t/1/{TOKEN}/card.png"),
)
"""Method and target. `tests/api/test_methods.py` holds it to be whole."""
