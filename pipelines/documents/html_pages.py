"""HTML pages that are one file: every text escaped, the style sheet inline, no script, no request.

The content security policy of a template allows its style sheet by `style_hash`.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
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

    def render(self, template: str, *, style: str, **values: object) -> str:
        """Render a template; it gets the style sheet `style` and its hash."""
        text = self._style(style)
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


def plain_text(text: object) -> str:
    """Return one line without control characters and without marks that change its direction."""
    return "" if text is None else str(text).translate(_PLAIN)
