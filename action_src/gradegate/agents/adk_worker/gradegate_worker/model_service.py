"""Whether a failure is the agent's own, or trouble with the service that its model is behind."""

from collections.abc import Iterator

CREDENTIALS, QUOTA, NETWORK = "credentials", "quota", "network"
_LIBRARIES = ("google.genai", "google.auth", "google.api_core", "litellm", "openai", "anthropic")
_TRANSPORTS = ("httpx", "httpcore", "aiohttp", "requests", "urllib3")
_BY_STATUS = {401: CREDENTIALS, 403: CREDENTIALS, 429: QUOTA}
_OUT_OF_ORDER = (408, 500, 502, 503, 504, 529)
_NO_KEY = ("API_KEY_INVALID", "API key not valid", "API key expired")
_UNREACHED = ("APIConnectionError", "APITimeoutError", "Timeout", "TransportError")
_UNKNOWN = ("DefaultCredentialsError", "RefreshError", "AuthenticationError")


def trouble(error: BaseException) -> str | None:
    """What is wrong with the model's service; None where the agent failed by itself.

    A tool that cannot reach its own service is the agent's failure: only what comes out of a
    model's library counts.
    """
    return next((found for one in _causes(error) if (found := _trouble(one))), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it was raised from."""
    seen = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__


def _trouble(error: BaseException) -> str | None:
    modules = [kind.__module__ for kind in type(error).__mro__]
    if any(_is_of(module, _LIBRARIES) for module in modules):
        return _of_library(error)
    raised_in = list(_modules_passed(error))
    if not any(_is_of(module, _LIBRARIES) for module in raised_in):
        return None
    if isinstance(error, OSError) or any(_is_of(module, _TRANSPORTS) for module in modules):
        return NETWORK
    without_key = isinstance(error, ValueError) and raised_in[-1] == "google.genai._api_client"
    return CREDENTIALS if without_key else None


def _of_library(error: BaseException) -> str | None:
    names = [kind.__name__ for kind in type(error).__mro__]
    if any(name in _UNKNOWN for name in names):
        return CREDENTIALS
    status = getattr(error, "code", None) or getattr(error, "status_code", None)
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in _OUT_OF_ORDER or any(name in _UNREACHED for name in names):
        return NETWORK
    return CREDENTIALS if any(said in str(error) for said in _NO_KEY) else None


def _modules_passed(error: BaseException) -> Iterator[str]:
    """Where it came through, the place that raised it last."""
    place = error.__traceback__
    while place is not None:
        yield str(place.tb_frame.f_globals.get("__name__", ""))
        place = place.tb_next


def _is_of(module: str, libraries: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in libraries)
