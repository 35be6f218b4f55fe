"""Keeps pandas out of processes that do not use it.

Arrow imports pandas, where it is installed, when it converts the first value. That costs 0.3 to
0.6 s of processor time and 40 MB in every service, worker and command, none of which uses pandas.
Arrow tries once, so the first value is converted here while pandas cannot be found.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec

import pyarrow as pa


class _WithoutPandas(MetaPathFinder):
    """Reports pandas as not installed."""

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def start_arrow() -> None:
    """Let Arrow look for pandas in vain, unless pandas is loaded already."""
    if "pandas" in sys.modules:
        return
    hiding = _WithoutPandas()
    sys.meta_path.insert(0, hiding)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hiding)


def let_arrow_use_pandas() -> None:
    """Undo `start_arrow` if pandas is installed: Arrow then knows a null of a pandas series."""
    if find_spec("pandas") is not None:
        pa.table({}).to_pandas()
