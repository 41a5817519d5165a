"""Whatever files and discovery services hold, there is an answer: values or complaints.

Configurations go the way of ``cwgpu check``, in all its kinds; target groups the way of target
files and of discovery over HTTP.

``make fuzz``, or ``python -m tests.fuzz.documents --seconds 60 --seed 1``.
"""

import contextlib
import functools
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cwgpu.config import complaint, review
from cwgpu.config.content import Content
from cwgpu.discovery import document, shape
from cwgpu.discovery.document import DocumentError
from tests.fuzz import engine, mutate
from tests.fuzz.pages import DATA

_TOKENS = [
    *[b"{", b"}", b"[", b"]", b":", b",", b"- ", b"\n- ", b"\n  ", b"'", b'"', b"|\n", b">-\n"],
    *[b"&a ", b"*a", b"<<: *a", b"!!binary ", b"!!int ", b"? ", b"---\n", b"...\n", b"%YAML 1.1"],
    *[b"null", b"~", b"true", b"010", b"1e3", b".inf", b"0x1F", b"2001-01-01", b"1_000", b"1:30"],
    *[b"\\ud800", b"\\u0000", b'"\\x41"', b"${HOME}", b"#", b"\t", b"<secret>", b"{}", b"[]"],
    *[b"scrape_configs:", b"job_name: x", b"relabel_configs:", b"targets:", b"labels:", b"url:"],
    *[b'"cwgpu": {', b'"metric_declaration": [', b'"targets": ["a:1"]', b'"labels": {"a": "b"}'],
]
_GROUPS = [
    b'[{"targets": ["10.0.0.1:9400"], "labels": {"Service": "dcgm"}}]',
    b'[{"targets": [], "labels": null}, {"Targets": ["a"]}]\n',
    b"- targets: [a:1, b:2]\n  labels: {x: y, zone: 010}\n- targets: &a [c]\n- targets: *a\n",
    b"",
    b"[]",
]


class Groups:
    """Target groups."""

    def draw(self, random: random.Random) -> bytes:
        """Break a file of groups."""
        rounds = random.choice((0, 1, 2, 4, 10))
        return mutate.broken(random, random.choice(_GROUPS), _TOKENS, rounds)

    def check(self, case: object) -> None:
        """As a file in both languages and as a service's answer: groups, or what is wrong."""
        assert isinstance(case, bytes)
        for read, any_case in ((document.from_json, True), (document.from_yaml, False)):
            with contextlib.suppress(DocumentError):
                groups = shape.groups(read(document.text(case)), any_case=any_case)
                assert all(isinstance(one, str) for each in groups for one in each.targets)
                str(groups).encode()


@dataclass(frozen=True, slots=True)
class File:
    """A file to be checked."""

    name: str
    content: bytes
    kind: Content | None


class Configurations:
    """Files for ``cwgpu check``."""

    def draw(self, random: random.Random) -> File:
        """Break a configuration; now and then call it something else."""
        name, content = random.choice(_configurations())
        broken = mutate.broken(random, content, _TOKENS, random.choice((1, 1, 2, 4)))
        return File(name, broken, random.choice((None, None, None, *Content)))

    def check(self, case: object) -> None:
        """Check it: there are complaints or none, each in a place, and they can be shown."""
        assert isinstance(case, File)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, case.name)
            path.write_bytes(case.content)
            found = review.review([path], {"X": "a,b"}, kind=case.kind)
        lines = case.content.count(b"\n") + case.content.count(b"\r") + 1
        for each in found:
            assert each.file != str(path) or 0 <= each.line <= lines
            complaint.as_json(each)
        complaint.render_all(found).encode()


@functools.cache
def _configurations() -> tuple[tuple[str, bytes], ...]:
    shipped = DATA.parents[1] / "config"
    places = [shipped, *(DATA / folder for folder in ("config", "article", "manifests"))]
    return tuple(
        (path.name, path.read_bytes())
        for place in places
        for path in sorted(place.rglob("*"))
        if path.suffix in {".json", ".yaml"} and path.stat().st_size < 1 << 14
    )


TARGETS: dict[str, engine.Make] = {"target groups": Groups, "configurations": Configurations}

if __name__ == "__main__":
    sys.exit(engine.main(TARGETS))
