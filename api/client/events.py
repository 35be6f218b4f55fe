"""Parses server-sent events line by line into job documents."""

import json
from dataclasses import dataclass, field
from typing import cast

from .types.answers import JobData


@dataclass(slots=True)
class EventLines:
    """Parser of one stream. Ignores comments and every field but `data`."""

    _data: list[str] = field(default_factory=list)

    def take(self, line: str) -> JobData | None:
        """Return the document that this line completes, if any."""
        if line.startswith("data:"):
            self._data.append(line.removeprefix("data:").removeprefix(" "))
        if line or not self._data:
            return None
        text, self._data = "\n".join(self._data), []
        return cast(JobData, json.loads(text))
