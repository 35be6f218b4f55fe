"""Results in memory: each is read once, the one that was asked for longest ago goes first."""

from typing import Any

from pipelines.scan.service.service import MAX_CACHED_RESULTS, ResultCache


class Store:
    """Results by job; `read` are the jobs whose result was read."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.missing: set[str] = set()

    def __call__(self, job_id: str) -> Any:
        self.read.append(job_id)
        return None if job_id in self.missing else {"job_id": job_id}


def test_a_result_is_read_once() -> None:
    store = Store()
    kept = ResultCache(store)
    first: Any = kept.of("job")
    assert first == {"job_id": "job"}
    assert kept.of("job") is first
    assert store.read == ["job"]


def test_a_job_without_a_result_is_looked_at_again() -> None:
    store = Store()
    store.missing = {"job"}
    kept = ResultCache(store)
    assert kept.of("job") is None
    store.missing.clear()
    assert kept.of("job") is not None
    assert store.read == ["job", "job"]


def test_a_full_cache_drops_the_result_that_was_not_asked_for_longest() -> None:
    store = Store()
    kept = ResultCache(store)
    names = [str(number) for number in range(MAX_CACHED_RESULTS)]
    for name in [*names, names[0], "one more"]:
        kept.of(name)
    store.read.clear()
    for name in (names[0], names[2], "one more", names[1]):
        kept.of(name)
    assert store.read == [names[1]]
