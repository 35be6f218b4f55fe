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
    # Ask for what no option names; a script gets the defaults.
    if not profile and is_interactive:
        out.print("[bold]sandbox[/] is a simulated platform on this machine, to try things out.")
        out.print("[bold]public[/] reads the public pages of the platform, with a rate limit.")
        profile = typer.prompt("Profile", default=PROFILES[0])
    if not data_home and is_interactive:
        data_home = typer.prompt("Folder for all stores", default=DEFAULT_DATA_HOME)
    if token is None and is_interactive:
        token = typer.confirm("Generate an API token?", default=True)
    profile, data_home = profile or PROFILES[0], data_home or DEFAULT_DATA_HOME
    if profile not in PROFILES:  # the path of a profile file
        port = Settings.model_fields["sandbox_port"].default
        try:
            load_profile(profile, sandbox_port=port)
        except InvalidParameterError as error:
            exit_with_input_error(error.detail, hint=error.hint)
    # `.env` has one setting a line, and quotes values with this mark.
    for setting in (profile, data_home):
        if any(ord(character) < ord(" ") for character in setting) or "'" in setting:
            exit_with_input_error("a setting must be one line without quotation marks")
    secret = None if token is False else secrets.token_urlsafe(TOKEN_BYTES)
    _write_privately(file, to_env(profile=profile, data_home=data_home, token=secret))
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


def _quoted(text: str) -> str:
    """Quote a value unless it is a plain word, so that `#` and spaces are kept."""
    is_plain = all(character.isalnum() or character in "/._-~:" for character in text)
    return text if is_plain else f"'{text}'"


def _write_privately(path: Path, text: str) -> None:
    """Write the file with mode 600 from the start, so that no one else can read the token."""
    # A draft that replaces the file at the end, so that a failure leaves the old one.
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        draft.replace(path)
    except OSError as error:
        # The draft may hold the token; it is missing if the folder cannot be written.
        with suppress(OSError):
            draft.unlink()
        exit_with_input_error(
            f"{path} cannot be written: {error.strerror}", hint="choose another path with --file"
        )
