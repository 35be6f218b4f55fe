"""Limits of what users write, and what they can say of a compared pair."""

from typing import Literal, get_args

Said = Literal["same", "not_the_same"]
SAYINGS: tuple[Said, ...] = get_args(Said)
MAX_NOTE_LENGTH = 500
MAX_NAME_LENGTH = 100
