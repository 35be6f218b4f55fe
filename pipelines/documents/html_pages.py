"""HTML pages that are one file: every text escaped, the style sheet inline, no script, no request.

All pages share the palette (`palette.py`), reports share `design.css`, and a template adds a style
sheet of its own. Its content security policy allows them together by `style_hash`.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipelines.documents.palette import report_variables

_DESIGN = Path(__file__).with_name("design.css")
_BIDIRECTIONAL = "\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
_CONTROL = [*range(0x20), *range(0x7F, 0xA0)]
_PLAIN = dict.fromkeys(_CONTROL, " ") | dict.fromkeys(map(ord, _BIDIRECTIONAL))


class PageTemplates:
    """The templates in the folder `templates` of a package. Opened when the first is rendered.

    Args:
        package: Name of the package.
        filters: Filters of its templates, besides `plain`.
        names: What its templates may use by name.
    """

    def __init__(
        self,
        package: str,
        *,
        filters: Mapping[str, Callable[..., object]] | None = None,
        names: Mapping[str, object] | None = None,
    ) -> None:
        self._package = package
        self._filters = filters or {}
        self._names = names or {}

    def render(
        self,
        template: str,
        *,
        style: str,
        running: tuple[str, str] | None = None,
        **values: object,
    ) -> str:
        """Render a template; it gets the style sheet and its hash.

        Args:
            template: Name of the template.
            style: Name of its own style sheet.
            running: For a report: what every printed page but the first has at its top, left and
                right. None: the page has the palette and its own style sheet alone.
            values: What the template uses.
        """
        text = self._style(style)
        if running is not None:
            text = f"{_shared_design()}{text}{_running_header(*running)}"
        text = report_variables() + text
        return self._environment.get_template(template).render(
            style=Markup(text),  # noqa: S704  # a file of the package
            style_hash=base64.b64encode(hashlib.sha256(text.encode()).digest()).decode(),
            **values,
        )

    def _style(self, name: str) -> str:
        """Return a style sheet as it is: it is no template."""
        source, _, _ = self._loader.get_source(self._environment, name)
        return source

    @cached_property
    def _loader(self) -> PackageLoader:
        return PackageLoader(self._package, "templates")

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=self._loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"plain": plain_text, **self._filters}
        environment.globals |= self._names
        return environment


@cache
def _shared_design() -> str:
    return _DESIGN.read_text(encoding="utf-8")


def _running_header(left: str, right: str) -> str:
    """Return the header of printed pages as a style sheet; any text is one string of it."""
    return (
        f"@page {{ @top-left {{ content: {_css_string(left)}; }} "
        f"@top-right {{ content: {_css_string(right)}; }} }}\n"
    )


def _css_string(text: str) -> str:
    """Quote a text for a style sheet: what could end the string or the element is escaped."""
    plain = plain_text(text)
    return (
        '"' + "".join(f"\\{ord(sign):x} " if sign in '"\\<>&{}' else sign for sign in plain) + '"'
    )


def plain_text(text: object) -> str:
    """Return one line without control characters and without marks that change its direction."""
    return "" if text is None else str(text).translate(_PLAIN)


def rounded_number(value: float | None) -> str:
    """Return a number without decimals and with separators of thousands; unknown is a dash."""
    return "—" if value is None else f"{value:,.0f}"
