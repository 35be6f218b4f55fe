"""Compiles the inner loops of matcher and index: `python -m pipelines.audio.compile_loops`.

Done once per installation (`make env`, the image), instead of in every process at the same time.
"""

from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify

if __name__ == "__main__":
    verify.warm_up()
    reference_index.warm_up()
