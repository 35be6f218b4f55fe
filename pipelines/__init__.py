"""Collect, listen, conclude: the scan graph and everything below it."""

import os
import sys

_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
if sys.version_info < (3, 12):  # noqa: UP036 -- later files would end in a syntax error
    sys.exit(f"Sametrack needs Python 3.12 or newer; this is Python {_VERSION}")

ONE_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Variables that numeric libraries read once, when they are loaded."""

for _name in ONE_THREAD_VARIABLES:
    # Threads of BLAS spin while they wait for work: on two cores a search for variants costs six
    # times the processor time. This package comes before NumPy in every process that compares.
    os.environ.setdefault(_name, "1")
