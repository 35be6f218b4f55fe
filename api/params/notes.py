"""Parameters of notes and tags, and of annotations of compared pairs."""

from typing import Annotated, Literal, get_args

from pydantic import Field, StrictInt, field_validator

from api.params.fields import PrintableText, QueryModel, StrictModel
from warehouse.control.notes import NoteKind

AnnotationVerdict = Literal["same", "not_the_same"]
ANNOTATION_VERDICTS: tuple[AnnotationVerdict, ...] = get_args(AnnotationVerdict)

MAX_NOTE_LENGTH = 500
MAX_NAME_LENGTH = 100
MAX_TAGS = 20
MAX_TAG_LENGTH = 40
MAX_NOTES = 5000
_Id = Annotated[PrintableText, Field(min_length=1, max_length=200)]
_Tag = Annotated[PrintableText, Field(min_length=1, max_length=MAX_TAG_LENGTH)]


class NoteBody(StrictModel):
    """Body of a note. Without `note` and `tags` the stored one is deleted."""

    kind: NoteKind = Field(description="what the note is on. 备注对象的种类")
    id: _Id = Field(description="music id, video id or comparison id. 音乐、作品或比对的 ID")
    note: Annotated[PrintableText, Field(max_length=MAX_NOTE_LENGTH)] | None = Field(
        None, description="free text. 备注"
    )
    tags: Annotated[list[_Tag], Field(max_length=MAX_TAGS)] = Field([], description="tags. 标签")

    @field_validator("tags")
    @classmethod
    def _once_each(cls, tags: list[str]) -> list[str]:
        """Drop blanks around tags, empty ones and repetitions."""
        return list(dict.fromkeys(tag for given in tags if (tag := given.strip())))


class NotesQuery(QueryModel):
    """Query of the notes."""

    kind: NoteKind | None = Field(None, description="only notes on these. 仅此种类")
    limit: StrictInt = Field(
        1000, ge=1, le=MAX_NOTES, description="maximum number of notes. 最多返回的条数"
    )


class AnnotationBody(StrictModel):
    """Body of an annotation."""

    verdict: AnnotationVerdict = Field(
        description="manual verdict: `same` or `not_the_same`. 人工判断：`same` 或 `not_the_same`"
    )
    note: Annotated[PrintableText, Field(max_length=MAX_NOTE_LENGTH)] | None = Field(
        None, description="free text. 备注"
    )
