"""Errors of sign-in and of the dashboard, with the text shown to people."""

from api.error_answers import DetailBody, RefusalError
from sql.accounts.accounts import MOST_LIVE_KEYS, MOST_NEW_KEYS


class SignInOffError(RefusalError):
    """This deployment has no issuer."""

    def __init__(self) -> None:
        detail = (
            "Signing in is not configured on this deployment. "
            "Its operator makes keys with the command line."
        )
        super().__init__(status=503, body=DetailBody(detail=detail))


class IssuerDownError(RefusalError):
    """The issuer does not answer, or not with a valid response."""

    def __init__(self) -> None:
        detail = "The sign-in service cannot be reached. Try again later."
        super().__init__(status=503, body=DetailBody(detail=detail), headers={"Retry-After": "30"})


class AttemptGoneError(RefusalError):
    """The callback belongs to no sign-in attempt of this browser."""

    def __init__(self) -> None:
        detail = (
            "This sign-in was already used, took too long, or began in another browser. Sign in "
            "again."
        )
        super().__init__(status=400, body=DetailBody(detail=detail))


class CodeRefusedError(RefusalError):
    """The issuer rejects the code."""

    def __init__(self) -> None:
        detail = "The issuer refused to complete this sign-in. Sign in again."
        super().__init__(status=400, body=DetailBody(detail=detail))


class DeniedError(RefusalError):
    """The issuer, or the person there, denied the sign-in."""

    def __init__(self, *, code: str):
        detail = f"The issuer did not sign you in: {code}."
        super().__init__(status=403, body=DetailBody(detail=detail))


class UnverifiedError(RefusalError):
    """The issuer's token cannot be verified, so nobody is signed in by it."""

    def __init__(self) -> None:
        detail = "The issuer's statement about you could not be verified. You are not signed in."
        super().__init__(status=403, body=DetailBody(detail=detail))


class NotSignedInError(RefusalError):
    """There is no session, or it has expired."""

    def __init__(self) -> None:
        super().__init__(status=401, body=DetailBody(detail="You are not signed in."))


class ForeignFormError(RefusalError):
    """The form does not have this session's token."""

    def __init__(self) -> None:
        detail = "This form did not come from your session. Open the page again and repeat it."
        super().__init__(status=403, body=DetailBody(detail=detail))


class TooManyKeysError(RefusalError):
    """The account has the maximum number of live keys."""

    def __init__(self) -> None:
        detail = f"An account has at most {MOST_LIVE_KEYS} live keys. Revoke one first."
        super().__init__(status=409, body=DetailBody(detail=detail))


class TooManyNewKeysError(RefusalError):
    """The account created too many keys within a day."""

    def __init__(self, *, retry_after_s: int):
        detail = f"An account makes at most {MOST_NEW_KEYS} keys in 24 hours."
        super().__init__(
            status=429,
            body=DetailBody(detail=detail),
            headers={"Retry-After": str(retry_after_s)},
        )


class NoSuchKeyError(RefusalError):
    """The account has no live key with that id; another account may."""

    def __init__(self) -> None:
        super().__init__(status=404, body=DetailBody(detail="You have no such live key."))


class NoKeyToChargeError(RefusalError):
    """A signed-in person requests an analysis without a live key to count it on."""

    def __init__(self) -> None:
        detail = "A look-up counts on a key of yours, and you have no live one. Create one first."
        super().__init__(status=403, body=DetailBody(detail=detail))
