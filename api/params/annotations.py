"""Verdicts of annotations, and length limits of texts that users write."""

from typing import Literal, get_args

AnnotationVerdict = Literal["same", "not_the_same"]
ANNOTATION_VERDICTS: tuple[AnnotationVerdict, ...] = get_args(AnnotationVerdict)
MAX_NOTE_LENGTH = 500
MAX_NAME_LENGTH = 100
