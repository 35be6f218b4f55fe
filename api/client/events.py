"""Reading a stream of server-sent events line by line: which job document does a line complete?"""

import json
from dataclasses import dataclass, field
from typing import cast

from .types.answers import JobData


@dataclass(slots=True)
class EventLines:
    """Takes the lines of one stream; comments and everything but `data` are passed over."""

    _data: list[str] = field(default_factory=list)

    def take(self, line: str) -> JobData | None:
        """The document that ends with this line, if one does."""
        if line.startswith("data:"):
            self._data.append(line.removeprefix("data:").removeprefix(" "))
        if line or not self._data:
            return None
        text, self._data = "\n".join(self._data), []
        return cast(JobData, json.loads(text))
