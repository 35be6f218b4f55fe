"""Verdicts of annotations, and length limits of texts that users write."""

from typing import Literal, get_args

Said = Literal["same", "not_the_same"]
SAYINGS: tuple[Said, ...] = get_args(Said)
MAX_NOTE_LENGTH = 500
MAX_NAME_LENGTH = 100
