"""Makes the parts of `api/client` that follow from others: `python -m api.generate.client`.

`blocking/` is `awaiting/` without `async`, and `answers.py` has the types of the API description.
Git ignores both; `make env`, `make wheel` and `make docs` make them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import unasync

from api.generate.argument_types import render_arguments
from api.params.catalogs import CatalogTrackSort
from api.params.notes import ANNOTATION_VERDICTS
from pipelines.parameters.scan import SORT_ORDERS
from pipelines.reads.series import SeriesKind
from warehouse.control.access.shared_links import SHARED_LINK_KINDS
from warehouse.control.notes import NOTE_KINDS
from warehouse.exports.atomic_files import write_atomically
from warehouse.records.alerts import ALERT_LANGUAGES
from warehouse.records.charts import SongLinkChoice
from warehouse.records.jobs import JobStatus

CLIENT = Path(__file__).parent.parent / "client"
BLOCKING_NAMES: Mapping[str, str] = {
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncPause": "Pause",
    "aclose": "close",
    "aclosing": "closing",
    "aiter_text": "iter_text",
    "asyncio": "time",
}
"""What the blocking client uses in place of a name; `unasync` knows those of Python itself."""
ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "AlertLanguage": ALERT_LANGUAGES,
    "AnnotationVerdict": ANNOTATION_VERDICTS,
    "CatalogTrackSort": get_args(CatalogTrackSort),
    "ChartLinkDecision": get_args(SongLinkChoice),
    "JobStatus": get_args(JobStatus),
    "NoteKind": NOTE_KINDS,
    "SeriesKind": get_args(SeriesKind),
    "SharedLinkKind": SHARED_LINK_KINDS,
    "SortBy": SORT_ORDERS,
}
"""Enumerations of arguments, by the name that users of the client know them by."""
_HEAD = '''\
"""Types of responses and arguments, made by `python -m api.generate.client`.

Unknown values are None. Ids are text. A name that ends in `Data` is the `data` of a response.
"""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

'''


def main(to: Path = CLIENT) -> None:
    """Make the blocking client and the types in a folder."""
    # The blocking client: the same code without `async`, with other names
    awaiting, types = CLIENT / "awaiting", to / "answers.py"
    rule = unasync.Rule(f"{awaiting}/", f"{to / 'blocking'}/", BLOCKING_NAMES)
    unasync.unasync_files([str(path) for path in awaiting.glob("*.py")], [rule])
    head = _HEAD + "".join(
        f"{name} = Literal{list(values)}\n" for name, values in ENUMERATIONS.items()
    )
    head += render_arguments()
    # The types, in two steps: the service describes itself with the client loaded.
    before = types.read_text(encoding="utf-8") if types.exists() else ""
    if not before.startswith(head):  # the service, which describes itself, loads the client
        write_atomically(types, [head.encode()])
    from api.generate.client_types import render_types  # noqa: PLC0415 -- loads the client, whose types are above
    from api.generate.files import read_description  # noqa: PLC0415 -- as above, with the service

    text = head + render_types(read_description())
    if text != before:
        write_atomically(types, [text.encode()])


if __name__ == "__main__":
    main()
