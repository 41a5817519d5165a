"""Whatever is written, the answer is a plan or complaints."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.config import document, load
from cwgpu.config.complaint import Complaint, as_json, errors_in, render_all
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from tests.config import corpus

Tree: TypeAlias = Any
"""Dicts and lists of anything."""

_AGENT = json.loads((corpus.FOLDER / "everything.good.json").read_text())
_JOBS = yaml.safe_load((corpus.FOLDER / "jobs.good.yaml").read_text())
_CLIENTS = yaml.safe_load((corpus.FOLDER / "clients.good.yaml").read_text())
_DEFAULT = json.loads((Path(__file__).parents[2] / "config/cwagent.json").read_text())

_ODD: st.SearchStrategy[Tree] = st.sampled_from(
    (
        None,
        True,
        0,
        -1,
        2**70,
        1.5,
        "",
        "*",
        "(",
        "{}",
        "${X}",
        "a:b",
        [],
        [None],
        [[]],
        {},
        {"": 1},
    )
)


def places(tree: Tree, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the way to every part of a tree but the whole."""
    if not isinstance(tree, dict | list):
        return []
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [way for step, part in steps for way in ((*here, step), *places(part, (*here, step)))]


@st.composite
def mutated(draw: st.DrawFn, tree: Tree) -> Tree:
    """Replace some parts of a tree by something odd, or rename a key."""
    changed = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(places(changed)))
        holder = changed
        for step in way:
            holder = holder[step]
        if isinstance(last, str) and draw(st.booleans()):
            holder[f"{last}s"] = holder.pop(last)
        else:
            holder[last] = copy.deepcopy(draw(_ODD))
    return changed


def check(said: tuple[Complaint, ...], text: str) -> None:
    """Every complaint has a place in the text, and can be shown."""
    last = text.count("\n") + 1
    assert all(0 <= each.line <= last for each in said if each.file == "f")
    assert render_all(said) is not None


@given(mutated(_AGENT) | mutated(_DEFAULT))
@settings(max_examples=150, deadline=None)
def test_any_agents_file_gives_a_plan_or_errors(tree: object) -> None:
    """A plan is made exactly when nothing is an error; nothing ever raises."""
    text = json.dumps(tree, indent=1)
    read = document.read(text.encode(), "f", Form.JSON)
    found = load.translated(Found(read.root, read.complaints, Path("/etc")), None, {"X": "a,b"})
    assert (found.plan is None) == errors_in(found.complaints)
    check(found.complaints, text)


@given(mutated(_JOBS) | mutated(_CLIENTS))
@settings(max_examples=150, deadline=None)
def test_any_file_of_jobs_gives_jobs_or_errors(tree: object) -> None:
    """The same for prometheus.yml."""
    text = yaml.safe_dump(tree)
    read = document.read(text.encode(), "f", Form.YAML)
    jobs, said = load.prometheus_file(Found(read.root, read.complaints, Path("/etc")))
    check(said, text)
    assert errors_in(said) or all(job.name for job in jobs)


_WRITTEN: dict[str, Callable[[Tree], str]] = {
    "JSON": lambda tree: json.dumps(tree, indent=1),
    "JSON in a line": json.dumps,
    "YAML": yaml.safe_dump,
    "YAML in flow style": lambda tree: yaml.safe_dump(tree, default_flow_style=True),
}


@given(mutated(_CLIENTS), st.sampled_from(sorted(_WRITTEN)), st.data())
@settings(max_examples=150, deadline=None)
def test_no_secret_is_told(tree: object, style: str, data: st.DataObject) -> None:
    """Whatever is wrong, and wherever the text is cut off, complaints hold no secret."""
    text = _WRITTEN[style](tree)
    cut = data.draw(st.integers(len(text) // 2, len(text)) | st.just(len(text)))
    form = Form.JSON if style.startswith("JSON") else Form.YAML
    read = document.read(text[:cut].encode(), "f", form)
    _, said = load.prometheus_file(Found(read.root, read.complaints, Path("/etc")))
    assert "hunter2" not in render_all(said)
    assert all("hunter2" not in str(as_json(each)) for each in said)
