"""Report of a replay by surface: counts, fields, examples."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

ReplayOutcomeKind = Literal[
    "same", "changed", "new_error", "now_parsed", "still_refused", "other_refusal", "not_read"
]
REPLAY_OUTCOME_KINDS: tuple[ReplayOutcomeKind, ...] = (
    "same", "changed", "new_error", "now_parsed", "still_refused", "other_refusal", "not_read",
)  # fmt: skip
DIFFERENCE_KINDS = frozenset[ReplayOutcomeKind](
    {"changed", "new_error", "now_parsed", "other_refusal"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayExample:
    """One capture that is parsed differently now."""

    kind: ReplayOutcomeKind
    capture_id: str
    entity_id: str
    what: str


@dataclass(slots=True)
class SurfaceReplay:
    """Replay of one surface. `fields` counts records by differing field.

    A record that was added or removed counts as `+record` or `-record`.
    """

    surface: str
    kinds: Counter[ReplayOutcomeKind] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    examples: list[ReplayExample] = field(default_factory=list)

    def to_document(self) -> dict[str, object]:
        """Return plain JSON values."""
        return {
            "surface": self.surface,
            "captures": self.kinds.total(),
            **{kind: self.kinds[kind] for kind in REPLAY_OUTCOME_KINDS},
            "fields": dict(self.fields.most_common()),
            "errors": dict(self.errors.most_common()),
            "examples": [
                {
                    "kind": example.kind,
                    "capture_id": example.capture_id,
                    "entity_id": example.entity_id,
                    "what": example.what,
                }
                for example in self.examples
            ],
        }
