"""`python -m sandbox`: run the sandbox."""

import typer

from sandbox.command import sandbox

if __name__ == "__main__":
    typer.run(sandbox)
