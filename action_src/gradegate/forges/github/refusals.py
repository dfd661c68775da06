"""What GitHub's refusals mean to us. Importing it does not import PyGithub."""

from collections.abc import Callable
from typing import TypeVar

from gradegate.model.errors import ForgeError
from gradegate.model.posting import Skipped

T = TypeVar("T")

WRONG_CREDENTIALS = (
    "GitHub does not accept the token (401): check the input `github-token`; "
    "`${{ github.token }}` is the job's own"
)


def or_skipped(what: str, post: Callable[[], T], *, needs: str = "") -> T | Skipped:
    """Do it; where GitHub does not let us, the value that says so.

    `needs` is the permission without which GitHub forbids it. A token that is no token at all is
    the user's mistake and raises.
    """
    from github import GithubException
    from requests import RequestException

    try:
        return post()
    except (GithubException, RequestException) as error:
        return Skipped(f"{what}: {_explain(error)}", needs if is_forbidden(error) else "")


def is_forbidden(error: Exception) -> bool:
    """Whether the token lacks the permission; limits are waited for and never come here."""
    from github import GithubException

    return (
        isinstance(error, GithubException) and error.status == 403  # noqa: PLR2004 - HTTP's number is its name
    )


def _explain(error: Exception) -> str:
    from github import GithubException

    if not isinstance(error, GithubException):
        return f"GitHub did not answer ({_innermost(error)})"
    if error.status == 401:  # noqa: PLR2004 - HTTP's number is its name
        raise ForgeError(WRONG_CREDENTIALS) from error
    told = error.data if isinstance(error.data, dict) else {}
    reason = error.message or told.get("message") or "no reason given"
    details = "".join(f"; {detail}" for detail in _details(told.get("errors")))
    return f"{reason}{details} (HTTP {error.status})" if error.status else reason


def _details(errors: object) -> list[str]:
    """What GitHub says beside the reason: texts, or objects that may have one."""
    listed = errors if isinstance(errors, list) else []
    texts = [error.get("message") if isinstance(error, dict) else error for error in listed]
    return [text for text in texts if isinstance(text, str)]


def _innermost(error: Exception) -> str:
    """The cause that urllib3 and requests wrap several times, without the URL."""
    inner = error.args[0] if error.args else error
    reason = getattr(inner, "reason", None) or inner
    return f"{type(reason).__name__}: {reason}"
