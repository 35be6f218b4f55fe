"""The accuracy bench: sound made by the project, the real ear, and the card that tells the result.

`python -m benchmarks.accuracy`, or `make bench-audio`.
"""

import os

# One thread each, or processor time would say nothing; before NumPy is loaded anywhere.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
