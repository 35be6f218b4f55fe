"""What is said where librosa finds two sounds more alike than the matcher does."""

from dataclasses import replace

from pipelines.audio.cross_check import differences
from tests.unit.audio.test_cross_check import CONFIRMED, STRAIGHT


def test_a_smaller_distance_by_librosa_is_laid_to_its_coarser_features() -> None:
    apart = replace(CONFIRMED, chroma_distance=0.4, mfcc_distance=0.5)
    told = differences(STRAIGHT, apart)
    for name, theirs, ours in (("Chroma", "0.08", "0.40"), ("MFCC", "0.12", "0.50")):
        [sentence] = [one for one in told if one.startswith(name)]
        assert f"{theirs} by librosa along its path, {ours} by the matcher" in sentence
        assert sentence.endswith("librosa's features are coarser, and its path adapts to them.")
