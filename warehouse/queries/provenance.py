"""The origin of a figure: from a row of a ranking to the hashes of the bodies and sounds behind it.

A row rests on observations of its video that were committed before it, each with the body that
showed it, and, unless the video uses the track's own music id, on a comparison of two sounds.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import unpack_bytes
from warehouse.queries.captures import read_payloads
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import Row
from warehouse.records.videos import COUNTS

type BodyState = Literal["intact", "damaged", "deleted", "none"]
"""Whether the body has the hash that was recorded; `deleted` after its retention period."""

_SHOWN = (
    "capture_id",
    "surface",
    "entity_id",
    "source_path",
    "observed_at",
    "parser_version",
    "data_provider",
    "payload_sha256",
)
_ROW = """
    select r.*, f.source_music_id, f.comparison_id
    from marts.rankings r
    left join marts.confirmed_videos f using (job_id, aweme_id)
    where r.job_id = $job and r.rank = $rank
"""
_OBSERVATIONS = """
    select v.capture_id, v.observed_at, v.music_id, v.digg_count, v.comment_count, v.collect_count,
        v.share_count, c.surface, c.entity_id, c.source_path, c.payload_sha256, c.parser_version,
        c.data_provider
    from raw.videos v join raw.captures c using (capture_id)
    where v.aweme_id = $video and v.committed_at <= $before
    order by v.observed_at, v.capture_id
"""
_COMPARISON = """
    select comparison_id, verdict, reason, score, algorithm, limits, reference_aweme_id,
        candidate_aweme_id, reference_sha256, candidate_sha256
    from marts.audio_comparisons where comparison_id = $comparison
"""


@dataclass(frozen=True, slots=True)
class FigureObservation:
    """An observation of the video, and what of the row it shows."""

    capture_id: str
    surface: str
    entity_id: str
    source_path: str | None
    observed_at: datetime
    parser_version: str
    data_provider: str
    payload_sha256: str | None
    body: BodyState
    shows_counts: bool
    shows_music_id: bool


@dataclass(frozen=True, slots=True)
class FigureTrace:
    """A row of a ranking with everything that it rests on."""

    figure: Row
    observations: Sequence[FigureObservation]
    comparison: Row | None

    @property
    def payloads(self) -> list[str]:
        """Hashes of the bodies that show the row's counts or its music id."""
        hashes = (
            observation.payload_sha256
            for observation in self.observations
            if observation.shows_counts or observation.shows_music_id
        )
        return sorted({sha256 for sha256 in hashes if sha256 is not None})

    def to_document(self) -> dict[str, object]:
        """Return the trace as a PROV-JSON document of the W3C."""
        return _prov(self)


def trace_figure(engine: Engine, *, job_id: str, rank: int) -> FigureTrace:
    """Return the origin of a row of a ranking.

    Raises:
        InvalidParameterError: The job has no such row.
        WarehouseUnavailableError: The lake cannot be read.
    """
    figures = engine.rows(_ROW, job=job_id, rank=rank)
    if not figures:
        raise InvalidParameterError(
            f"the ranking of job {job_id!r} has no rank {rank}",
            hint="`sametrack jobs` lists the jobs, `sametrack export rankings` writes all rows",
        )
    row = figures[0]
    observations = engine.rows(_OBSERVATIONS, video=row["aweme_id"], before=row["committed_at"])
    # Compute the hash of every body that is kept.
    hashes = {observation["payload_sha256"] for observation in observations} - {None}
    states: dict[str, BodyState] = {
        sha256: "intact" if hashlib.sha256(unpack_bytes(body)).hexdigest() == sha256 else "damaged"
        for sha256, body in read_payloads(engine, sorted(hashes)).items()
    }
    comparisons = engine.rows(_COMPARISON, comparison=row["comparison_id"])
    return FigureTrace(
        row,
        [_observation(observed, row, states) for observed in observations],
        comparisons[0] if comparisons else None,
    )


def _observation(observed: Row, row: Row, states: Mapping[str, BodyState]) -> FigureObservation:
    sha256 = observed["payload_sha256"]
    counts = [observed[name] for name in COUNTS]
    music_id = observed["music_id"]
    if music_id is None and observed["surface"] == "music_list":
        music_id = observed["entity_id"]  # a row of a music list that names no other music id
    return FigureObservation(
        **{name: observed[name] for name in _SHOWN},
        body="none" if sha256 is None else states.get(sha256, "deleted"),
        shows_counts=any(count is not None for count in counts)
        and counts == [row[name] for name in COUNTS],
        shows_music_id=row["source_music_id"] is not None and row["source_music_id"] == music_id,
    )


def _prov(trace: FigureTrace) -> dict[str, object]:
    """Name things by their kind and id, such as `st:payload/4f0c…`."""
    row = trace.figure
    figure, job = f"st:ranking/{row['job_id']}/{row['rank']}", f"st:job/{row['job_id']}"
    graph = _Graph()
    graph.add("entity", figure, {name: row[name] for name in ("aweme_id", "rank", *COUNTS)})
    graph.add("activity", job, {"music_id": row["music_id"]})
    graph.relate("wasGeneratedBy", entity=figure, activity=job)
    for observation in trace.observations:
        capture = f"st:capture/{observation.capture_id}"
        facts = {
            "surface": observation.surface,
            "entity_id": observation.entity_id,
            "path": observation.source_path,
        }
        graph.add("activity", capture, {**facts, "parser_version": observation.parser_version})
        if observation.payload_sha256 is None:
            continue
        payload = f"st:payload/{observation.payload_sha256}"
        graph.add(
            "entity", payload, {"sha256": observation.payload_sha256, "body": observation.body}
        )
        graph.relate("wasGeneratedBy", entity=payload, activity=capture)
        graph.relate("used", activity=job, entity=payload)
        if observation.shows_counts or observation.shows_music_id:
            graph.relate("wasDerivedFrom", generatedEntity=figure, usedEntity=payload)
    if trace.comparison is not None:
        _add_comparison(graph, figure, trace.comparison)
    return graph.document


def _add_comparison(graph: "_Graph", figure: str, pair: Row) -> None:
    evidence = f"st:comparison/{pair['comparison_id']}"
    graph.add("entity", evidence, {name: pair[name] for name in ("verdict", "reason", "score")})
    graph.relate("wasDerivedFrom", generatedEntity=figure, usedEntity=evidence)
    for role in ("reference", "candidate"):
        if (sha256 := pair[f"{role}_sha256"]) is not None:
            sound = f"st:sound/{sha256}"
            graph.add("entity", sound, {"sha256": sha256, "aweme_id": pair[f"{role}_aweme_id"]})
            graph.relate("wasDerivedFrom", generatedEntity=evidence, usedEntity=sound)


class _Graph:
    """A PROV-JSON document under construction."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[str, dict[str, object]]] = {}

    @property
    def document(self) -> dict[str, object]:
        prefix = {"st": "urn:sametrack:", "prov": "http://www.w3.org/ns/prov#"}
        return {"prefix": prefix, **self._parts}

    def add(self, kind: str, name: str, facts: Mapping[str, object]) -> None:
        self._parts.setdefault(kind, {})[name] = {
            f"st:{key}": value for key, value in facts.items() if value is not None
        }

    def relate(self, kind: str, **ends: str) -> None:
        relation: dict[str, object] = {f"prov:{end}": name for end, name in ends.items()}
        relations = self._parts.setdefault(kind, {})
        if relation not in relations.values():
            relations[f"_:{kind}{len(relations) + 1}"] = relation
