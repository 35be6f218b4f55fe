"""Values whose shape only their source knows: rows of a query and JSON documents.

Code that uses such a value in more than one place reads it into a record first.
"""

from collections.abc import Mapping
from typing import Any

type Row = dict[str, Any]  # columns and their types come from SQL, which no type checker reads
type Document = dict[str, Any]  # JSON as it is stored or sent; `api/schemas` types the answers
type ReadOnlyRow = Mapping[str, Any]  # the same, for a reader; also of the log of a table
type ReadOnlyDocument = Mapping[str, Any]
