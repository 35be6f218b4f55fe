"""A disk of its own for a data home, which a test turns read-only or slows down.

A file with an ext4 file system on a loop device. Needs Linux, root and loop devices.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_THROTTLE = Path("/sys/fs/cgroup/blkio")
_NEEDED = ("losetup", "mkfs.ext4", "e2fsck", "mount", "umount")


def has_loop_devices() -> bool:
    """Whether this machine lets us mount a file."""
    return (
        hasattr(os, "geteuid")
        and os.geteuid() == 0
        and Path("/dev/loop-control").exists()
        and all(shutil.which(name) for name in _NEEDED)
    )


def can_slow_down() -> bool:
    """Whether the kernel limits the operations of a device for all processes."""
    return (_THROTTLE / "blkio.throttle.write_iops_device").exists()


@dataclass(frozen=True)
class Disk:
    """A mounted disk: `device` such as /dev/loop0, mounted at `folder`."""

    device: str
    folder: Path

    def turn_read_only(self) -> None:
        """Do what ext4 does after an error of its device: writing fails, also to open files.

        What was written before is on the disk.
        """
        _run("sync", "--file-system", str(self.folder))
        _run("mount", "-o", "remount,abort", str(self.folder))

    @contextmanager
    def filled(self, *, leaving_mb: int) -> Iterator[None]:
        """Leave so much space while the block runs."""
        filling = self.folder / "filling"
        free = shutil.disk_usage(self.folder).free
        with filling.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, free - leaving_mb * 1_000_000)
        try:
            yield
        finally:
            filling.unlink()

    def repair(self) -> None:
        """Check the file system and mount it again; no file of it may be open."""
        _run("umount", str(self.folder))
        checked = subprocess.run(
            ["e2fsck", "-p", "-f", self.device], capture_output=True, text=True, check=False
        )
        assert checked.returncode in {0, 1}, checked.stdout + checked.stderr  # 1: errors corrected
        _run("mount", self.device, str(self.folder))

    def slow_down(self, *, reads_per_s: int, writes_per_s: int) -> None:
        """Let the device do so many operations a second; 0 for any number."""
        numbers = Path(self.device).stat().st_rdev
        device = f"{os.major(numbers)}:{os.minor(numbers)}"
        for kind, rate in (("read", reads_per_s), ("write", writes_per_s)):
            (_THROTTLE / f"blkio.throttle.{kind}_iops_device").write_text(f"{device} {rate}")

    def operations(self) -> int:
        """Reads and writes that the device has completed."""
        fields = Path("/sys/block", Path(self.device).name, "stat").read_text().split()
        return int(fields[0]) + int(fields[4])


@contextmanager
def open_disk(folder: Path, *, size_mb: int = 1024) -> Iterator[Disk]:
    """Mount an empty disk at a folder; unmounted with the block."""
    folder.mkdir()
    image = folder.with_suffix(".ext4")
    with image.open("wb") as file:
        file.truncate(size_mb * 1_000_000)
    _run("mkfs.ext4", "-q", str(image))
    device = _run("losetup", "--find", "--show", str(image)).strip()
    assert re.fullmatch(r"/dev/loop\d+", device), device
    disk = Disk(device, folder)
    try:
        _run("mount", device, str(folder))
        yield disk
    finally:
        if can_slow_down():
            disk.slow_down(reads_per_s=0, writes_per_s=0)
        subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)
        _run("losetup", "--detach", device)
        image.unlink()


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout
