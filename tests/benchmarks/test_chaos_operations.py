"""The campaign of faults asks every operation that the clients have."""

from api.responses.errors import ERROR_SPECS
from benchmarks.chaos.endpoints import NAMED, PLATFORM_READS, Ids, arguments
from benchmarks.chaos.faults import FAULTS

IDS = Ids("12345", "12345", "MS4wLjABAAAAtest", "12345", "https://v.vidplat.localhost/x/")


def test_every_operation_has_the_arguments_that_it_needs() -> None:
    known = arguments(IDS)
    assert known.keys() <= NAMED.keys()
    for name, operation in NAMED.items():
        assert operation.request(**known.get(name, {})).path.startswith("/api/v1/")


def test_reads_of_the_platform_are_operations() -> None:
    assert NAMED.keys() >= PLATFORM_READS


def test_every_fault_has_documented_errors() -> None:
    assert {error for fault in FAULTS for error in fault.errors} <= ERROR_SPECS.keys()
