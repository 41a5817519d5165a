"""From a tree to a model, with a complaint for everything that does not fit.

What does not fit is left out and the rest validated again, so that a wrong key does not hide what
is wrong elsewhere: the translation sees all that could be read.
"""

import functools
import json
import re
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cwgpu.config import field, secret, shape
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Kind, Loc, Node, describe, path, short
from cwgpu.config.report import Report
from cwgpu.config.shape import Model

M = TypeVar("M", bound=Model)

# How alike a suggestion must be. A key of another place is suggested when it is that very word but
# for a letter, or, failing that and a likely one here, nearly the same.
_TYPO = 0.85
_LETTER = 0.9
_SAME_WORD = 0.75

_PLAIN = re.compile(r"[A-Za-z_/.][\w/.-]*")
"""What needs no quotes in YAML."""
_SENTENCES = {
    "list_type": "wanted a list, found {found}",
    "too_short": "wanted {min_length} characters or more, found {found}",
    "too_long": "wanted {max_length} characters or less, found {actual_length}",
    "greater_than_equal": "wanted {ge} or more, found {found}",
    "less_than_equal": "wanted {le} or less, found {found}",
    "literal_error": "wanted {expected}, found {found}",
}


def validate(model: type[M], report: Report) -> M:
    """Make the model of a tree; complaints go to the report. Never raises."""
    if report.root.kind not in (Kind.MAPPING, Kind.NULL):
        message = f"wanted an object with {_known(model)}, found {describe(report.root)}"
        report.refuse((), "wrong-type", message)
        return model()
    data = {} if report.root.kind is Kind.NULL else field.plain(report.root)
    while True:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                _complain(model, report, detail)
                report.pruned.add(_leave_out(data, detail["loc"]))


def _complain(model: type[Model], report: Report, detail: ErrorDetails) -> None:
    loc, context = detail["loc"], detail.get("ctx", {})
    if detail["type"] == "extra_forbidden":
        unknown(model, report, loc)
    elif detail["type"] == "complaint":
        report.error(loc, context["code"], context["message"], context["advice"])
    elif detail["type"] in _SENTENCES:
        words = {"found": _found(report, loc), **context}
        message = _SENTENCES[detail["type"]].format(**words)
        report.error(loc, "wrong-value", message, _advice(report, detail))
    else:
        inner = shape.model_at(model, loc)
        wanted = f"an object with {_known(inner)}" if inner else "an object"
        report.error(loc, "wrong-type", f"wanted {wanted}, found {_found(report, loc)}")


def _advice(report: Report, detail: ErrorDetails) -> str:
    loc, context, kind = detail["loc"], detail.get("ctx", {}), detail["type"]
    node = report.root.find(loc)
    words = str(context.get("expected", "")).replace(" or ", ", ").replace("'", "").split(", ")
    meant = nearest(node.text, words) if node and "expected" in context else None
    if meant:
        return f"did you mean {meant}?"
    if node and node.kind is Kind.STR and len(loc) > 1 and loc[-2] == "dimensions":
        return f'dimensions is a list of lists: [["{node.text}"]]'
    if kind == "list_type" and node and node.kind is Kind.STR and not secret.private(loc):
        return f"write {_listed(node)}"
    return ""


def _listed(node: Node) -> str:
    """Write a lone text as the list of it, as JSON or YAML has it there."""
    if node.style == '"':
        return json.dumps([node.text], ensure_ascii=False)
    plain = _PLAIN.fullmatch(node.text)
    return f"[{node.text}]" if plain else "['" + node.text.replace("'", "''") + "']"


def _found(report: Report, loc: Loc) -> str:
    node = report.root.find(loc)
    return describe(node) if node else "nothing"


def _known(model: type[Model]) -> str:
    """List a model's keys that do something, the first few of many."""
    names = [name for name, key in shape.names(model).items() if shape.use(key) is None]
    # As many as a person reads.
    most = 8
    return "the keys " + ", ".join(names[:most]) + (" ..." if len(names) > most else "")


def unknown(model: type[Model], report: Report, loc: Loc) -> None:
    """Refuse a key that nobody knows, and say which one may be meant."""
    written, above = str(loc[-1]), shape.model_at(model, loc[:-1]) or model
    siblings = shape.names(above)
    meant = (
        nearest(written, siblings, _TYPO)
        or _elsewhere(model, written, _LETTER)
        or nearest(written, (name for name, key in siblings.items() if not shape.use(key)))
        or _elsewhere(model, written, _SAME_WORD)
        or nearest(written, siblings)
    )
    advice = f"did you mean {meant}?" if meant else f"it may have {_known(above)}"
    report.refuse(loc, "unknown-key", f"unknown key {short(written)}", advice)
    if meant and report.root.find((*loc[:-1], meant)) is None:
        report.pruned.add((*loc[:-1], meant))  # that it is missing was said


def _elsewhere(model: type[Model], written: str, cutoff: float) -> str | None:
    """Find the place of a key of that name, or nearly that name, that works."""
    places = _places(model)
    meant = nearest(written, places, cutoff)
    return places[meant] if meant else None


@functools.cache
def _places(model: type[Model]) -> dict[str, str]:
    places: dict[str, str] = {}
    for key in shape.keys(model):
        if key.use is None:
            places.setdefault(str(key.loc[-1]), path(key.loc).replace("[0]", "[]"))
    return places


def _leave_out(data: Any, loc: Loc) -> Loc:  # noqa: ANN401 - a plain tree
    """Remove what is at ``loc``; of a list's item, the key that holds the list. Say what went."""
    keys = [index for index, step in enumerate(loc) if isinstance(step, str)]
    holder = data
    for step in loc[: keys[-1]]:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            break  # it went with something above it
    else:
        holder.pop(loc[keys[-1]], None)
    return loc[: keys[-1] + 1]
