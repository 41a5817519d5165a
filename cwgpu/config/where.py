"""Finding and reading the files, as the CloudWatch agent finds and reads them."""

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cwgpu.config import document, limits, mixup
from cwgpu.config.complaint import Complaint, about, errors_in
from cwgpu.config.document import Document, Form, empty
from cwgpu.config.merge import merge
from cwgpu.config.node import Node
from cwgpu.config.source import Source

DEFAULT = Path("/etc/cwagentconfig")
"""Where the agent's image mounts its configuration."""
DEFAULT_PROMETHEUS = "/etc/cwagentconfig/prometheus.yaml"

_PATH_VARIABLE = "CWGPU_CONFIG"
_ADVICE = (
    "give the CloudWatch agent's JSON, a file or a directory, with -c or in the environment as "
    f"{_PATH_VARIABLE}; docs/configuration.md has a small one"
)
_CONTENT_VARIABLE = "CW_CONFIG_CONTENT"
"""Holds the agent's JSON itself; looked at when the directory has none."""


@dataclass(frozen=True, slots=True)
class Found:
    """A tree, with the files that it was read from."""

    root: Node
    complaints: tuple[Complaint, ...]
    directory: Path
    """Where relative file names begin; absolute."""
    files: tuple[Path, ...] = ()

    @property
    def broken(self) -> bool:
        """Tell whether there is no tree to look at."""
        return errors_in(self.complaints)


def agent(path: Path | None, environ: Mapping[str, str]) -> Found:
    """Read the agent's JSON: a file, or the files of a directory as one. Never raises."""
    named = path or (Path(environ[_PATH_VARIABLE]) if environ.get(_PATH_VARIABLE) else None)
    chosen = named or DEFAULT
    if not os.path.isdir(chosen):  # noqa: PTH112 - pathlib's raises where it may not look
        return _agent_file(chosen, environ, named=named is not None)
    files = sorted(each for each in chosen.glob("*.json") if not each.name.startswith("."))
    if not files:
        return _content(environ) or _missing(
            str(chosen), "no-configuration", "the directory holds no .json file", _ADVICE
        )
    # A further file that appears is a change, too.
    watched = (*files, Path(glob.escape(str(chosen)), "*.json"))
    documents = [_read(each, Form.JSON) for each in files]
    complaints = [complaint for each in documents for complaint in each.complaints]
    if errors_in(complaints):
        return Found(documents[0].root, tuple(complaints), chosen.absolute(), watched)
    root, conflicts = merge([each.root for each in documents])
    return Found(root, (*complaints, *conflicts), chosen.absolute(), watched)


def joined(found: Sequence[Found]) -> Found:
    """Make one of several agent's files, as of those of a directory. There must be one or more."""
    complaints = tuple(complaint for each in found for complaint in each.complaints)
    files = tuple(file for each in found for file in each.files)
    if errors_in(complaints):
        return Found(found[0].root, complaints, found[0].directory, files)
    root, conflicts = merge([each.root for each in found])
    return Found(root, (*complaints, *conflicts), found[0].directory, files)


def _agent_file(path: Path, environ: Mapping[str, str], *, named: bool) -> Found:
    if not named and not os.path.exists(path):  # noqa: PTH110 - as above
        message = "there is no configuration: this is where it is looked for"
        return _content(environ) or _missing(str(path), "no-configuration", message, _ADVICE)
    read = _read(path, Form.JSON)
    return Found(read.root, read.complaints, path.parent.absolute(), (path,))


def _content(environ: Mapping[str, str]) -> Found | None:
    if not environ.get(_CONTENT_VARIABLE):
        return None
    data = environ[_CONTENT_VARIABLE].encode(errors="surrogateescape")
    read = document.read(data, f"env:{_CONTENT_VARIABLE}", Form.JSON)
    return Found(read.root, read.complaints, Path.cwd())


def prometheus(path: Path) -> Found:
    """Read a file of scrape jobs. Never raises."""
    read = _read(path, Form.YAML)
    return Found(read.root, read.complaints, path.parent.absolute(), (path,))


def named(written: str, directory: Path, environ: Mapping[str, str]) -> Found:
    """Read what ``prometheus_config_path`` names: a path, ``file:PATH`` or ``env:NAME``.

    A relative path begins at ``directory``. Never raises.
    """
    if written.startswith("env:"):
        return _variable(written, directory, environ)
    return prometheus(directory / written.removeprefix("file:"))


def _variable(written: str, directory: Path, environ: Mapping[str, str]) -> Found:
    name = written.removeprefix("env:")
    if name not in environ:
        message = f"the environment variable {name}, which is to hold the scrape jobs, is not set"
        return _missing(written, "variable-not-set", message, f"set {name}, or name a file")
    data = environ[name].encode(errors="surrogateescape")
    read = document.read(data, written, Form.YAML)
    return Found(read.root, read.complaints, directory)


def _read(path: Path, form: Form) -> Document:
    try:
        with path.open("rb") as file:
            data = file.read(limits.SIZE_BYTES + 1)
    except OSError as error:
        return _unreadable(path, error)
    return mixup.told(document.read(data, str(path), form), data, form)


def _unreadable(path: Path, error: OSError) -> Document:
    reason = error.strerror or os.strerror(error.errno or 0)
    message, advice = f"the file cannot be read: {reason}", "correct its name or its permissions"
    complaint = about(str(path), "file-not-readable", message, advice=advice)
    source = Source.of(str(path), "")
    return Document(source, empty(source), (complaint,))


def _missing(name: str, code: str, message: str, advice: str = "") -> Found:
    root = empty(Source.of(name, ""))
    return Found(root, (about(name, code, message, advice=advice),), Path.cwd())
