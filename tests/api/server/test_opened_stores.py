"""What the service opens by its settings."""

from pathlib import Path

import pytest

from api.process import open_services
from api.settings import ApiSettings


@pytest.mark.parametrize("pictures", [True, False], ids=["shown", "not shown"])
def test_pictures_are_kept_only_where_the_operator_shows_them(
    tmp_path: Path, pictures: bool
) -> None:
    settings = ApiSettings(
        _env_file=None, data_home=tmp_path, data_provider="mock", pictures=pictures
    )
    with open_services(settings) as opened:
        assert opened.scan_service is not None
        assert opened.scan_service.world.is_demo
        assert (opened.pictures is not None) is pictures


def test_without_a_profile_no_store_is_opened(tmp_path: Path) -> None:
    settings = ApiSettings(_env_file=None, data_home=tmp_path)
    with open_services(settings) as opened:
        assert (opened.scan_service, opened.sources, opened.pictures) == (None, None, None)
        (check,) = opened.readiness.checks()
        assert check["name"] == "profile"
        assert "no platform profile is chosen" in str(check["reason"])
    assert list(tmp_path.iterdir()) == []
