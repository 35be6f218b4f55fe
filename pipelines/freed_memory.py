"""Give freed memory back to the operating system, which glibc keeps for the next allocation.

A scan allocates far more than it keeps: pages, features, spectra. A warm process would stay as
large as its largest scan, and grow as the heap becomes fragmented. A decoder would stay as large as
its longest sound.
"""

import ctypes
import gc
import os

HEAPS = 2
"""By default glibc has a heap per thread, and each keeps what was freed in it."""
_M_ARENA_MAX = -8  # glibc's malloc.h


def limit_heaps() -> None:
    """Let the threads of this process share heaps, and those of its children; with glibc only."""
    os.environ.setdefault("MALLOC_ARENA_MAX", str(HEAPS))
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_ARENA_MAX, HEAPS)


def give_back_memory() -> None:
    """Collect garbage, then trim the heap; only the former without glibc."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
