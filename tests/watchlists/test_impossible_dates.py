"""A calendar expression that is well formed, but names a day that no month has, is refused."""

import pytest

from pipelines.watchlists.schedule import SCHEDULE_HELP, to_cron
from warehouse.records.errors import InvalidParameterError


def test_a_first_of_the_month_that_is_a_fifth_monday_is_never_due() -> None:
    with pytest.raises(InvalidParameterError) as met:
        to_cron("0 0 */31 * 1#5")
    assert met.value.detail == "`every`: '0 0 */31 * 1#5' is never due"
    assert met.value.hint == SCHEDULE_HELP


def test_a_day_that_comes_every_few_years_is_kept() -> None:
    assert to_cron("0 0 29 2 */7") == "0 0 29 2 */7"
