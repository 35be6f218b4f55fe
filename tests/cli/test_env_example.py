"""`.env.example` and the settings say the same."""

import re
from pathlib import Path

from pydantic_core import to_jsonable_python

from api.settings import ApiSettings

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"^# (?P<name>[A-Z][A-Z0-9_]+)=(?P<value>.*)$", re.MULTILINE)
SHOWN = {
    found["name"]: found["value"] for found in LINE.finditer((ROOT / ".env.example").read_text())
}
HAS_NO_DEFAULT = {"profile"}  # the example shows the choice that contacts nobody


def test_every_setting_is_in_the_example_and_nothing_else() -> None:
    assert set(SHOWN) == {name.upper() for name in ApiSettings.model_fields}


def test_the_example_shows_the_defaults() -> None:
    for name in ApiSettings.model_fields.keys() - HAS_NO_DEFAULT:
        default = to_jsonable_python(ApiSettings.model_fields[name].default)
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        assert SHOWN[name.upper()] == ("" if default in (None, []) else shown), name


def test_an_example_with_every_line_in_force_is_valid(tmp_path: Path) -> None:
    text = LINE.sub(
        lambda found: f"{found['name']}={found['value']}", (ROOT / ".env.example").read_text()
    )
    path = tmp_path / ".env"
    path.write_text(text)
    settings = ApiSettings(_env_file=path)
    assert settings.own_api_token is None
    assert settings.profile == "sandbox"
