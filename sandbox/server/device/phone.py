"""The simulated phone: its properties, its files, and the shell commands that a reader needs."""

import shlex
from collections.abc import Callable, Mapping, Sequence

from sandbox.server.device.app import PACKAGE, Log, Script, ScriptedApp
from sandbox.server.device.screens import HEIGHT, WIDTH, to_dump
from sandbox.server.platform import SandboxPlatform

SERIAL = "stand-in-1"
PROPERTIES: Mapping[str, str] = {
    "ro.sametrack.stand_in": "1",
    "ro.product.model": "Sametrack stand-in",
    "ro.build.version.release": "14",
    "ro.build.version.sdk": "34",
}
_SEPARATORS = frozenset({";", "&&"})
_NOT_FOUND, _WRONG = 127, 1
_DUMP = "/sdcard/window_dump.xml"
type Said = tuple[str, int]
"""What a command prints, and its exit status."""


class LostError(Exception):
    """The device goes away in the middle of a command."""


class SimulatedPhone:
    """One device that is none."""

    def __init__(self, platform: SandboxPlatform) -> None:
        self.serial = SERIAL
        self.properties = dict(PROPERTIES)
        self.files: dict[str, bytes] = {}
        self._platform = platform
        self.restore()
        self._commands: Mapping[str, Callable[[Sequence[str]], Said]] = {
            "am": self._am, "monkey": self._monkey, "input": self._input, "pm": self._pm,
            "dumpsys": self._dumpsys, "uiautomator": self._uiautomator, "getprop": self._getprop,
            "wm": _wm, "rm": self._rm, "cat": self._cat, "echo": _echo,
        }  # fmt: skip

    def restore(self) -> None:
        """As it was in the beginning."""
        self.script = Script()
        self.log = Log()
        self.is_losing_dump = False
        self._app = ScriptedApp(self._platform, self.script, self.log)
        self._away = 0

    def is_there(self) -> bool:
        """False while it is away; every request that finds it so brings it nearer."""
        if self._away > 0:
            self._away -= 1
            return False
        return self.script.state != "absent"

    def lose(self) -> None:
        """Go away, and forget which screen showed."""
        self.log.losses += 1
        self.script.lose_after = 0
        self.is_losing_dump = False
        self._away = self.script.away
        self._app.start()

    def run(self, line: str) -> Said:
        """A line of shell commands.

        Raises:
            LostError: The device goes away in the middle of it.
        """
        self.log.commands += 1
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&")
        lexer.whitespace_split = True
        said, status, is_skipped, words = "", 0, False, list[str]()
        for word in [*lexer, ";"]:
            if word not in _SEPARATORS:
                words.append(word)
                continue
            if words and not is_skipped:
                told, status = self._one(words, status)
                said += told
            is_skipped, words = word == "&&" and bool(status), []
        return said, status

    def _one(self, words: Sequence[str], last: int) -> Said:
        command = self._commands.get(words[0])
        if command is None:
            return f"/system/bin/sh: {words[0]}: inaccessible or not found\n", _NOT_FOUND
        operands = [word.replace("$?", str(last)) for word in words[1:]]
        try:
            return command(operands)
        except (IndexError, ValueError):
            return f"Error: Invalid arguments for command: {words[0]}\n", _WRONG

    def _am(self, words: Sequence[str]) -> Said:
        link, package = _after(words, "-d"), _after(words, "-p")
        if words[:1] == ["force-stop"]:
            self._app.start()
            return "", 0
        intent = f"{{ act=android.intent.action.VIEW dat={link} pkg={package} }}"
        if package != PACKAGE or not self.script.is_installed:
            return f"Error: Activity not started, unable to resolve Intent {intent}\n", _WRONG
        self._app.open(link)
        return f"Starting: Intent {intent}\n", 0

    def _monkey(self, words: Sequence[str]) -> Said:
        if _after(words, "-p") != PACKAGE or not self.script.is_installed:
            return "** No activities found to run, monkey aborted.\n", _WRONG
        self._app.start()
        return "Events injected: 1\n", 0

    def _input(self, words: Sequence[str]) -> Said:
        if words[:1] == ["tap"]:
            self.log.taps += 1
            self._app.tap(int(words[1]), int(words[2]))
        elif words[:1] == ["swipe"]:
            self._swipe(up=int(words[2]) > int(words[4]))
        elif words[:1] == ["keyevent"] and words[1].removeprefix("KEYCODE_") in {"BACK", "4"}:
            self._app.back()
        return "", 0

    def _swipe(self, *, up: bool) -> None:
        self.log.swipes += 1
        if up:
            self._app.swipe_up()
        if self.script.lose_after and self.log.swipes >= self.script.lose_after:
            if self.script.lose_in == "swipe":
                raise LostError
            self.is_losing_dump = True

    def _pm(self, words: Sequence[str]) -> Said:
        if words[:1] == ["path"] and words[1] == PACKAGE and self.script.is_installed:
            return f"package:/data/app/~~standin==/{PACKAGE}/base.apk\n", 0
        return "", _WRONG

    def _dumpsys(self, words: Sequence[str]) -> Said:
        if words[:1] == ["display"]:
            return "  mViewports=[DisplayViewport{displayId=0, orientation=0, isActive=true}]\n", 0
        if list(words[:2]) == ["package", PACKAGE] and self.script.is_installed:
            version = self.script.version
            return f"Packages:\n    versionCode=310200\n    versionName={version}\n", 0
        return "", 0

    def _uiautomator(self, words: Sequence[str]) -> Said:
        if words[:1] != ["dump"]:
            return "Usage: uiautomator <subcommand> [options]\n", _WRONG
        self.log.dumps += 1
        if not self._app.is_idle:
            return "ERROR: could not get idle state.\n", 0
        path = words[1] if len(words) > 1 else _DUMP
        self.files[path] = to_dump(self._app.look(), package=PACKAGE).encode()
        return f"UI hierchary dumped to: {path}\n", 0  # misspelt on every device

    def _getprop(self, words: Sequence[str]) -> Said:
        if words:
            return f"{self.properties.get(words[0], '')}\n", 0
        return "".join(f"[{name}]: [{value}]\n" for name, value in self.properties.items()), 0

    def _rm(self, words: Sequence[str]) -> Said:
        for path in words:
            self.files.pop(path, None)
        return "", 0

    def _cat(self, words: Sequence[str]) -> Said:
        body = self.files.get(words[0]) if words else None
        if body is None:
            return f"cat: {' '.join(words)}: No such file or directory\n", _WRONG
        return body.decode(), 0


def _wm(words: Sequence[str]) -> Said:
    return (f"Physical size: {WIDTH}x{HEIGHT}\n", 0) if words[:1] == ["size"] else ("", _WRONG)


def _echo(words: Sequence[str]) -> Said:
    return f"{' '.join(words)}\n", 0


def _after(words: Sequence[str], option: str) -> str:
    """The word after an option."""
    place = list(words).index(option) + 1 if option in words else len(words)
    return words[place] if place < len(words) else ""
