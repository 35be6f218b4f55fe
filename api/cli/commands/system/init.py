"""`sametrack init`: write a first `.env`. `.env.example` explains every setting."""

import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from api.cli.terminal import as_typed, exit_with_input_error, out, safe
from pipelines.platform.profiles import load_profile
from pipelines.settings import Settings
from warehouse.records.errors import InvalidParameterError

PROFILES = ("sandbox", "public")
DEFAULT_DATA_HOME = "warehouse/data"
TOKEN_BYTES = 24

_Profile = Annotated[
    str | None,
    typer.Option(help="`sandbox` (on this machine), `public`, or a profile file."),
]
_DataHome = Annotated[str | None, typer.Option(help="Folder for all stores.")]
_Token = Annotated[
    bool | None,
    typer.Option("--token/--no-token", help="Generate a token that requests must send."),
]
_File = Annotated[Path, typer.Option("--file", help="File to write.")]
_Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


def init(
    *,
    profile: _Profile = None,
    data_home: _DataHome = None,
    token: _Token = None,
    file: _File = Path(".env"),
    force: _Force = False,
) -> None:
    """Write a first .env with profile, data home and token. Asks in an interactive terminal."""
    if file.exists() and not force:
        exit_with_input_error(
            f"{file} exists already", hint="read it, or overwrite it with --force"
        )
    is_interactive = sys.stdin.isatty()
    profile = profile or (_ask_profile() if is_interactive else PROFILES[0])
    data_home = data_home or (
        typer.prompt("Folder for all stores", default=DEFAULT_DATA_HOME)
        if is_interactive
        else DEFAULT_DATA_HOME
    )
    if token is None:
        token = typer.confirm("Generate an API token?", default=True) if is_interactive else True
    word = secrets.token_urlsafe(TOKEN_BYTES) if token else None
    _write(
        file, to_env(profile=_valid_profile(profile), data_home=_one_line(data_home), token=word)
    )
    out.print(f"[green]written[/] {safe(file)}, readable only by you (profile {safe(profile)})")
    out.print(as_typed("next: [bold]sametrack up[/] starts all services"))


def to_env(*, profile: str, data_home: str, token: str | None) -> str:
    """Return the text of a first `.env`."""
    lines = (
        "# Settings of Sametrack. All of them are explained in .env.example.",
        f"PROFILE={_quoted(profile)}",
        f"DATA_HOME={_quoted(data_home)}",
        f"OWN_API_TOKEN={token}" if token else "# OWN_API_TOKEN= (none: loopback only)",
    )
    return "\n".join(lines) + "\n"


def _ask_profile() -> str:
    out.print("[bold]sandbox[/] is a simulated platform on this machine, to try things out.")
    out.print("[bold]public[/] reads the public pages of the platform, with a rate limit.")
    answer: str = typer.prompt("Profile", default=PROFILES[0])
    return answer


def _valid_profile(profile: str) -> str:
    """Return the name of a profile, or the path of a profile file that can be used."""
    if profile not in PROFILES:
        port = Settings.model_fields["sandbox_port"].default
        try:
            load_profile(profile, sandbox_port=port)
        except InvalidParameterError as error:
            exit_with_input_error(error.detail, hint=error.hint)
    return _one_line(profile)


def _one_line(text: str) -> str:
    if any(ord(character) < ord(" ") for character in text) or "'" in text:
        exit_with_input_error("a setting must be one line without quotation marks")
    return text


def _quoted(text: str) -> str:
    """Quote a value unless it is a plain word, so that `#` and spaces are kept."""
    is_plain = all(character.isalnum() or character in "/._-~:" for character in text)
    return text if is_plain else f"'{text}'"


def _write(path: Path, text: str) -> None:
    """Write the file with mode 600 from the start, so that no one else can read the token."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # there is none, or no such folder
            draft.unlink()  # it may hold the token
        exit_with_input_error(
            f"{path} cannot be written: {error.strerror}", hint="choose another path with --file"
        )
