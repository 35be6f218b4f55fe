"""Draw plots as SVG in a process of its own.

The renderer takes a second to load and holds the interpreter's lock while it loads and draws, so a
thread would stop the queries of a report. The process ends with the one that started it.
"""

import multiprocessing
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection

_EMPTY = '{"data": {"values": []}, "mark": "point"}'


class PlotRenderer:
    """The renderer; it begins to load at once. Not thread-safe."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, remote = context.Pipe()
        # Closed here once the process has its copy, so that either side notices the other's end.
        with remote:
            self.process = context.Process(target=_serve, args=(remote,), daemon=True)
            self.process.start()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self.process.join()

    def draw(self, plot: str) -> str:
        """Return the SVG of a Vega-Lite plot given as JSON.

        Raises:
            ValueError: The plot is invalid.
            EOFError, OSError: The process has ended.
        """
        self._connection.send(plot)
        svg = self._connection.recv()
        if isinstance(svg, ValueError):
            raise svg
        return str(svg)


@cache
def plot_renderer() -> PlotRenderer:
    """Return the renderer of this process, and start it at the first call."""
    return PlotRenderer()


def _serve(connection: Connection) -> None:
    """Draw the plots that arrive, until the other side ends."""
    import vl_convert  # noqa: PLC0415 -- only this process needs it

    # The first plot loads the renderer, which takes a second.
    vl_convert.vegalite_to_svg(_EMPTY)
    with suppress(EOFError, OSError):
        while True:
            plot = connection.recv()
            try:
                connection.send(vl_convert.vegalite_to_svg(plot))
            except ValueError as error:
                connection.send(error)
