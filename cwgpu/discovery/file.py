"""Target groups from files that are read again and again.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#file_sd_config

A file that cannot be used any more keeps the targets it named while it was good: a slip in an
editor stops no scraping. A file that a wildcard found and that is gone was taken away on purpose.

Looking again at a file that did not change costs one call of stat(2), links followed, so that a
ConfigMap's swapped links are seen as well.
"""

import dataclasses
import hashlib
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cwgpu.discovery import document, glob, shape
from cwgpu.discovery.document import DocumentError
from cwgpu.discovery.findings import Findings
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import FileDiscovery

SIZE_BYTES = 32 * 1024 * 1024
"""No file is read beyond this: some 300,000 targets with a few labels each."""

_FILEPATH = "__meta_filepath"

_Mark: TypeAlias = tuple[int, int, int, int, int]
"""Device, inode, size, and when content and inode were changed: other content, other mark."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one file."""

    digest: bytes | None = None
    """Of the content that was judged; None when none could be read."""
    groups: tuple[TargetGroup, ...] = ()
    fault: str | None = None
    mark: _Mark | None = None
    """The file's before it was read; None when it could not be."""
    settled: bool = False
    """Whether two readings found that mark. The file system's clock goes in steps of some
    milliseconds: what is written within the step of the first reading leaves the mark as it was."""


class FileSource:
    """One entry of file_sd_configs. Reading is synchronous and in no way thread-safe."""

    def __init__(self, discovery: FileDiscovery, index: int) -> None:
        """``index`` is the entry's place in its job; it makes the groups' sources unique."""
        self._patterns = [Path(pattern) for pattern in discovery.patterns]
        self._index = index
        self._known: dict[Path, _Known] = {}

    def read(self) -> Findings:
        """Look at every file. The file system's faults are among the findings."""
        faults: list[str] = []
        known: dict[Path, _Known] = {}
        for pattern in self._patterns:
            try:
                paths = list(_paths(pattern))
            except ValueError as error:
                faults.append(f"{pattern}: {error}: name it whole, or as in gpus-*.json")
            except OSError as error:
                faults.append(
                    f"{pattern}: its directory cannot be listed ({error.strerror}): "
                    "create it and let cwgpu read it, or name another in file_sd_configs"
                )
                known |= {path: self._known[path] for path in _matching(self._known, pattern)}
            else:
                known |= {path: self._look(path) for path in paths if path not in known}
        self._known = known
        faults += [one.fault for one in known.values() if one.fault]
        return Findings(tuple(g for one in known.values() for g in one.groups), tuple(faults))

    def _look(self, path: Path) -> _Known:
        before = self._known.get(path, _Known())
        mark = digest = None
        try:
            mark = _mark(path)
            settled = mark == before.mark
            if settled and before.settled:
                return before
            data = _content(path)
            digest = hashlib.sha256(data).digest()
            if digest == before.digest:
                return dataclasses.replace(before, mark=mark, settled=settled)
            return _Known(digest, tuple(self._groups(path, data)), None, mark)
        except OSError as error:
            fault = _unreadable(error)
        except DocumentError as error:
            fault = str(error)
        stays = "; until then the targets that it named before stay in use" if before.groups else ""
        return _Known(digest, before.groups, f"{path}: {fault}{stays}", mark)

    def _groups(self, path: Path, data: bytes) -> Iterator[TargetGroup]:
        text = document.text(data)
        if path.suffix.lower() == ".json":
            groups = shape.groups(document.from_json(text), any_case=True)
        else:
            groups = shape.groups(document.from_yaml(text))
        for at, group in enumerate(groups):
            yield TargetGroup(
                source=f"file/{self._index}/{path}:{at}",
                targets=tuple({"__address__": target} for target in group.targets),
                labels={**group.labels, _FILEPATH: str(path)},
            )


def _paths(pattern: Path) -> Iterable[Path]:
    """Give the files that a pattern names; one without wildcards names one, be it there or not."""
    if glob.is_plain(pattern.name):
        return (pattern,)
    return _matching(sorted(pattern.parent.iterdir()), pattern)


def _matching(paths: Iterable[Path], pattern: Path) -> Iterator[Path]:
    means = glob.compiled(pattern.name).fullmatch
    return (path for path in paths if path.parent == pattern.parent and means(path.name))


def _mark(path: Path) -> _Mark:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for its writer
        raise DocumentError("it is no regular file: name a file of targets")
    if found.st_size > SIZE_BYTES:
        raise _too_large()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(SIZE_BYTES + 1)
    if len(data) > SIZE_BYTES:  # it grew meanwhile, or is of those that tell no size
        raise _too_large()
    return data


def _too_large() -> DocumentError:
    return DocumentError(f"it is larger than {SIZE_BYTES >> 20} MiB: use several files")


def _unreadable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file: create it, or name another in file_sd_configs"
    return f"cannot be read ({error.strerror}): let cwgpu read it, or name another file"
