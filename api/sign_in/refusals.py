"""What can go wrong with people, as they are told of it."""

from api.error_answers import DetailBody, RefusalError
from sql.accounts import MOST_LIVE_KEYS, MOST_NEW_KEYS


class SignInOffError(RefusalError):
    """This deployment has no issuer."""

    def __init__(self) -> None:
        detail = (
            "Signing in is not configured on this deployment. "
            "Its operator makes keys with the command line."
        )
        super().__init__(status=503, body=DetailBody(detail=detail))


class IssuerDownError(RefusalError):
    """The issuer does not answer, or not with what it should."""

    def __init__(self) -> None:
        detail = "The service that people sign in with cannot be reached; try again later."
        super().__init__(status=503, body=DetailBody(detail=detail), headers={"Retry-After": "30"})


class AttemptGoneError(RefusalError):
    """The answer of the issuer belongs to no attempt of this browser."""

    def __init__(self) -> None:
        detail = "This sign-in was used before, took too long, or began elsewhere. Sign in again."
        super().__init__(status=400, body=DetailBody(detail=detail))


class CodeRefusedError(RefusalError):
    """The issuer does not take its code back."""

    def __init__(self) -> None:
        detail = "The issuer refused to complete this sign-in. Sign in again."
        super().__init__(status=400, body=DetailBody(detail=detail))


class DeniedError(RefusalError):
    """The issuer, or the person there, said no."""

    def __init__(self, *, code: str):
        detail = f"The issuer did not sign you in: {code}."
        super().__init__(status=403, body=DetailBody(detail=detail))


class UnverifiedError(RefusalError):
    """What the issuer says of the person does not hold: nobody is signed in by it."""

    def __init__(self) -> None:
        detail = "What the issuer said of you could not be verified. You are not signed in."
        super().__init__(status=403, body=DetailBody(detail=detail))


class NotSignedInError(RefusalError):
    """No session, or one that is over."""

    def __init__(self) -> None:
        super().__init__(status=401, body=DetailBody(detail="You are not signed in."))


class ForeignFormError(RefusalError):
    """The form was not one that this session was given."""

    def __init__(self) -> None:
        detail = "This form did not come from your session. Open the page again and repeat it."
        super().__init__(status=403, body=DetailBody(detail=detail))


class TooManyKeysError(RefusalError):
    """The account has all the live keys it may have."""

    def __init__(self) -> None:
        detail = f"An account has at most {MOST_LIVE_KEYS} live keys. Revoke one first."
        super().__init__(status=409, body=DetailBody(detail=detail))


class TooManyNewKeysError(RefusalError):
    """The account made too many keys within a day."""

    def __init__(self, *, retry_after_s: int):
        detail = f"An account makes at most {MOST_NEW_KEYS} keys in 24 hours."
        super().__init__(
            status=429,
            body=DetailBody(detail=detail),
            headers={"Retry-After": str(retry_after_s)},
        )


class NoSuchKeyError(RefusalError):
    """The account has no live key of that number, whoever else may have one."""

    def __init__(self) -> None:
        super().__init__(status=404, body=DetailBody(detail="You have no such live key."))


class NoKeyToChargeError(RefusalError):
    """Somebody signed in wants an analysis and has no key that it would count on."""

    def __init__(self) -> None:
        detail = "A look-up counts on a key of yours, and you have no live one. Create one first."
        super().__init__(status=403, body=DetailBody(detail=detail))
