"""Give freed memory back to the operating system, which glibc keeps for the next allocation.

A scan allocates far more than it keeps: pages, features, spectra. A warm process would stay as
large as its largest scan, and grow as the heap becomes fragmented. A decoder would stay as large as
its longest sound.
"""

import ctypes
import gc


def give_back_memory() -> None:
    """Collect garbage, then trim the heap; only the former without glibc."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
