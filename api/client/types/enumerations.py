"""Enumerations of arguments, written by `make docs`."""

from typing import Literal

AnnotationVerdict = Literal["same", "not_the_same"]
ChartLinkDecision = Literal["same", "different", "withdrawn"]
JobStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
NoteKind = Literal["track", "video", "pair"]
SeriesKind = Literal["video", "track", "account"]
SortBy = Literal["hot_score", "digg", "comment", "collect", "share", "latest", "oldest"]
