"""Further files of jobs, which ``scrape_config_files`` names."""

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cwgpu.config import where
from cwgpu.config.node import short
from cwgpu.config.report import Report
from cwgpu.config.where import Found

# patRulePath of Prometheus 3.0.1, config/config.go.
_PATTERN = re.compile(r"[^*]*(?:\*[^/]*)?")


def patterns(written: Sequence[str], report: Report, directory: Path) -> tuple[Path, ...]:
    """Check what is written; relative paths begin at ``directory``."""
    made = []
    for index, text in enumerate(written):
        here = ("scrape_config_files", index)
        pattern = directory / text
        if not _PATTERN.fullmatch(text):
            message = f"{short(text)} has a star before its last part"
            report.error(here, "bad-file-name", message, "only the last part may hold stars")
        elif not _names(pattern):
            message = f"no file is there: {short(str(pattern))}"
            report.note(here, "no-file-there", message, "its jobs are read as soon as it appears")
        made.append(pattern)
    return tuple(made)


def read(patterns: Sequence[Path]) -> Iterator[Found]:
    """Read what is there, in the order of the patterns and of the names."""
    for pattern in patterns:
        for name in _names(pattern):
            yield where.prometheus(Path(name))


def _names(pattern: Path) -> list[str]:
    # A star finds hidden files too, as filepath.Glob of Go has it.
    return sorted(glob.glob(str(pattern), include_hidden=True))  # noqa: PTH207 - pathlib's has no say
