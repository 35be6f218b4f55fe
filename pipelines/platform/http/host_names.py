"""Comparing host names, always on label boundaries."""

from collections.abc import Iterable


def host_matches(host: str, rules: Iterable[str]) -> bool:
    """True when a rule is the host, or (with a leading dot) its domain, on a label boundary."""
    return any(
        host == rule or (rule.startswith(".") and (host.endswith(rule) or host == rule[1:]))
        for rule in rules
    )
