"""A capture: read one surface, parse it, append what was observed. Assets and API use the same.

Every attempt leaves a row, refusals included. Nothing is concluded here.
"""

from pipelines.captures.bodies import StoredBodies
from pipelines.captures.chart import ChartCaptures
from pipelines.captures.session import Captures
from pipelines.captures.walk import Walk

__all__ = ["Captures", "ChartCaptures", "StoredBodies", "Walk"]
