"""Comparison of host names on label boundaries."""

from collections.abc import Iterable


def host_matches(host: str, rules: Iterable[str]) -> bool:
    """Return True if a rule names the host or, with a leading dot, one of its parent domains."""
    return any(
        host == rule or (rule.startswith(".") and (host.endswith(rule) or host == rule[1:]))
        for rule in rules
    )
