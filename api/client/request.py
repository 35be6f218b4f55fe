"""A request of the service: method, path, query and body."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiRequest[Data]:
    """A request for `Data`. `is_safe`: it is idempotent and may be retried.

    `timeout_s` replaces the time limit of the connection.
    """

    method: str
    path: str
    query: Mapping[str, object] | None = None
    body: object = None
    is_safe: bool = True
    timeout_s: float | None = None

    @property
    def params(self) -> dict[str, str]:
        """The query as text, without None values; a list is separated by commas."""
        params: dict[str, str] = {}
        for name, value in (self.query or {}).items():
            if value is None:
                continue
            if isinstance(value, Iterable) and not isinstance(value, str):
                params[name] = ",".join(map(str, value))
            else:
                # The service reads `true` and `false`, in lower case only.
                params[name] = str(value).lower() if isinstance(value, bool) else str(value)
        return params
