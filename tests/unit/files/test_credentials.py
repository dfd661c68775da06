"""Which values of an environment are kept secret."""

import base64
import json
from pathlib import Path

import pytest

from gradegate.files.credentials import dotenv_secrets, known_secrets

LINES = [f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC{n:013}" for n in range(9)]
PEM = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *LINES, "AgEAAoI=", "-----END PRIVATE KEY-----", ""]
)
ACCOUNT = {
    "type": "service_account",
    "project_id": "weather-desk-401234",
    "private_key_id": "0123456789abcdef0123456789abcdef01234567",
    "private_key": PEM,
    "client_email": "desk@weather-desk-401234.iam.gserviceaccount.com",
    "client_id": "104857600123456789012",
    "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    "token_uri": "https://oauth2.googleapis.com/token",
    "universe_domain": "googleapis.com",
}
ORDINARY = [
    '"type": "service_account"',
    "service_account",
    "weather-desk-401234",
    "https://oauth2.googleapis.com/token",
    "104857600123456789012",
    "-----BEGIN PRIVATE KEY-----",
    "desk@weather-desk-401234.iam.gserviceaccount.com",
]


def test_secrets_are_found_by_their_names() -> None:
    """A path to a secret is none, and neither is a short word."""
    environ = {
        "GOOGLE_API_KEY": "AIza-0123456789",
        "INPUT_GITHUB-TOKEN": "ghs_abcdefgh",
        "DEPLOY_PAT": "of-the-deploy-bot",
        "GOOGLE_APPLICATION_CREDENTIALS": "/run/secrets/account.json",
        "MONKEY": "banana",
        "PATH": "/usr/bin",
        "MODEL": "gemini-2.5-flash",
    }
    assert set(known_secrets(environ)) == {"AIza-0123456789", "ghs_abcdefgh", "of-the-deploy-bot"}


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("AIzaSyA1b2C3d4E5f6G7h8i9J0", "AIzaSyA1b2C3d4E5f6G7h8i9J0"),
        ("github_pat_11ABCDEFG0123456789", "github_pat_11ABCDEFG0123456789"),
        ("postgres://desk:p%40ssw0rd-x@db/agents", "p%40ssw0rd-x"),
        ("postgres://desk:p%40ssw0rd-x@db/agents", "p@ssw0rd-x"),
        (PEM, LINES[3]),
        (base64.b64encode(json.dumps(ACCOUNT).encode()).decode(), LINES[3]),
    ],
)
def test_secrets_are_found_by_their_looks(value: str, secret: str) -> None:
    """Whatever the variable is called."""
    assert secret in known_secrets({"ANYTHING": value})


@pytest.mark.parametrize("indent", [None, 2])
def test_of_a_service_account_the_key_is_secret_and_ordinary_lines_are_not(
    indent: int | None,
) -> None:
    """On one line or on many: each line of the key, its id, and the whole."""
    text = json.dumps(ACCOUNT, indent=indent)
    secrets = known_secrets({"GCP_SA": text})
    for line in [*LINES, "AgEAAoI=", str(ACCOUNT["private_key_id"]), text]:
        assert secrets.hide(f"so {line} it is") == "so *** it is"
    for line in ORDINARY:
        assert secrets.hide(f"so {line} it is") == f"so {line} it is"


@pytest.mark.parametrize(
    ("text", "secret", "ordinary"),
    [
        (PEM, LINES[0], "-----END PRIVATE KEY-----"),
        (PEM.replace("\n", "\\n"), LINES[0], "-----END PRIVATE KEY-----"),
        (
            "machine github.com\n  login desk\n  password ghp_abcdefghij0123456789\n",
            "ghp_abcdefghij0123456789",
            "machine github.com",
        ),
        (
            "user: desk-of-the-house\npassword: correct-horse\n",
            "correct-horse",
            "desk-of-the-house",
        ),
        ("first-line-of-a-secret\nsecond-line-of-it\n", "second-line-of-it", "first-line"),
        ("Zm9vYmFyYmF6cXV4\nZm9vYmFyYmF6cXV4MTIz==\n", "Zm9vYmFyYmF6cXV4MTIz==", "Zm9vYmFy"),
        (
            '{"installed": {"client_secret": "of-the-desk", "client_id": "desk-of-mine"}}',
            "of-the-desk",
            "desk-of-mine",
        ),
        (
            '{"half": a file\n"type": "service_account"\n',
            '{"half": a file\n"type": "service_account"',
            "service_account",
        ),
    ],
)
def test_of_many_lines_the_telling_ones_are_secret(text: str, secret: str, ordinary: str) -> None:
    """And those that stand in many a text are not."""
    secrets = known_secrets({"DESK_CREDENTIAL": text})
    assert secret not in secrets.hide(f"so {secret} it is")
    assert secrets.hide(f"so {ordinary} it is") == f"so {ordinary} it is"


def test_a_file_that_the_environment_names_is_read(tmp_path: Path) -> None:
    """An agent that is given the file's name can repeat what is in the file."""
    file = tmp_path / "account.json"
    file.write_text(json.dumps(ACCOUNT))
    secrets = known_secrets({"GOOGLE_APPLICATION_CREDENTIALS": str(file)})
    assert secrets.hide(LINES[5]) == "***"
    assert secrets.hide(str(file)) == str(file)
    assert list(known_secrets({"SECRETS_FOLDER": str(tmp_path)})) == []


def test_what_an_agent_finds_in_its_dotenv_is_secret(tmp_path: Path) -> None:
    """By the same rules, but that no other file is read for it."""
    (tmp_path / "account.json").write_text(json.dumps(ACCOUNT))
    (tmp_path / ".env").write_text(
        "# ours\nGOOGLE_CLOUD_PROJECT=weather-desk\n\nexport DESK_API_KEY='of-the-desk'\n"
        f"GOOGLE_APPLICATION_CREDENTIALS={tmp_path}/account.json\n"
    )
    assert list(dotenv_secrets([tmp_path, tmp_path / "nowhere"])) == ["of-the-desk"]


def test_what_is_hostile_is_read_all_the_same() -> None:
    """JSON without an end, and without a bottom."""
    for value in (
        "[" * 100_000,
        '{"a":' * 100_000,
        "{",
        "\\n" * 9,
        "-----BEGIN X-----",
        "\x00" * 20,
    ):
        assert isinstance(list(known_secrets({"A_KEY": value})), list)
