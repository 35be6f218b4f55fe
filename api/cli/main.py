"""Entry point of the `sametrack` command: registers the commands and formats errors."""

import os
import sys

import typer

import pipelines  # noqa: F401 - limits the threads of numeric libraries before they are loaded
from api.cli import terminal
from api.cli.command_table import CommandGroup
from api.cli.interrupts import Interrupted
from warehouse.records.errors import SametrackError

app = typer.Typer(
    name="sametrack",
    cls=CommandGroup,
    help="Find the public videos that use a recording: verified by audio, ranked by engagement, "
    "with a coverage report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def _root() -> None:
    """Make the application a group; its commands come from `CommandGroup`."""


def main() -> None:
    """Run the command line; errors are printed as one line, without a stack trace."""
    try:
        app()
    except SametrackError as error:
        terminal.show_error(error.type, error.detail, error.hint)
        sys.exit(terminal.exit_code(error))
    except (KeyboardInterrupt, Interrupted):
        sys.exit(terminal.EXIT_INTERRUPTED)
    except Exception as error:
        if terminal.TRACE in os.environ:
            raise
        # An invalid setting. Pydantic is not loaded here, so its error is known by its name; its
        # `input` is not printed, because it may be a secret.
        if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):
            for wrong in error.errors():
                name = "_".join(map(str, wrong["loc"])).upper() or "a setting"
                terminal.show_error(
                    "invalid_parameter", f"{name}: {wrong['msg']}", "see .env.example"
                )
            sys.exit(terminal.EXIT_INPUT)
        detail = f"{type(error).__name__}: {error}"
        terminal.show_error(
            "internal_error", detail, f"set {terminal.TRACE}=1 to see where it happened"
        )
        sys.exit(terminal.EXIT_FAILED)


if __name__ == "__main__":
    main()
