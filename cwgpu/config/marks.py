"""What is said about keys that were read but that nothing acts on."""

import re
from collections.abc import Iterator

from cwgpu.config import shape
from cwgpu.config.node import Loc, path
from cwgpu.config.report import Report
from cwgpu.config.shape import Model

_INDEX = re.compile(r"\[\d+\]")


def tell(model: Model, report: Report, loc: Loc = ()) -> None:
    """List once what only other programs read."""
    ignored = [*marked(model, loc), *_ignored(model, report, loc)]
    if ignored:
        # What every job has is named once.
        names = dict.fromkeys(_INDEX.sub("[]", path(each)) for each in ignored)
        message = f"nothing here acts on: {', '.join(names)}"
        log = any(each[-1] == "scrape_failure_log_file" for each in ignored)
        advice = "the journal tells of failed scrapes" if log else ""
        report.note(ignored[0], "not-handled-here", message, advice)


def marked(model: Model, loc: Loc = ()) -> Iterator[Loc]:
    """Yield the marked keys that are written and that differ from their defaults."""
    for key, field in type(model).model_fields.items():
        if key not in model.model_fields_set:
            continue
        value, where = getattr(model, key), (*loc, shape.name(key, field))
        if shape.use(field) is None:
            for steps, inner in _models(value):
                yield from marked(inner, (*where, *steps))
        elif value != field.get_default():
            yield where


def _models(value: object) -> Iterator[tuple[Loc, Model]]:
    if isinstance(value, Model):
        yield (), value
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from (((index, *steps), inner) for steps, inner in _models(item))


def _ignored(model: Model, report: Report, loc: Loc) -> Iterator[Loc]:
    """Find the keys of the objects that may hold any."""
    for key in shape.keys(type(model)):
        if key.model and key.model.model_config.get("extra") == "ignore":
            node, known = report.root.find((*loc, *key.loc)), shape.names(key.model)
            members = node.members if node else ()
            yield from ((*loc, *key.loc, m.name) for m in members if m.name not in known)
