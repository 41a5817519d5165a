"""What the models say about keys: which there are, where, what they mean, what is done with them.

Complaints about unknown keys and the documentation of the configuration are both made of this.
"""

import enum
import functools
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from cwgpu.config.node import Loc


class Model(BaseModel):
    """What every model is: closed, and read-only once made."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Use(enum.Enum):
    """What is done with a key that the models know but nothing acts on."""

    ELSEWHERE = "not handled here"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a model."""

    loc: Loc
    """From the root; 0 stands for any index, ``*`` for any name."""
    field: FieldInfo
    model: type[Model] | None
    """What the value holds, if that is an object with keys of its own."""

    @property
    def use(self) -> Use | None:
        """Tell what is done with it; None when it simply works."""
        return use(self.field)


def use(field: FieldInfo) -> Use | None:
    """Give a field's mark."""
    return next((mark for mark in field.metadata if isinstance(mark, Use)), None)


def name(key: str, field: FieldInfo) -> str:
    """Give the name under which a field is written."""
    return field.alias or key


@functools.cache
def names(model: type[Model]) -> Mapping[str, FieldInfo]:
    """Give a model's fields under the names in which they are written, its own before others'."""
    fields = model.model_fields
    order = dict.fromkeys(key for each in model.__mro__ for key in inspect.get_annotations(each))
    return {name(key, fields[key]): fields[key] for key in order if key in fields}


def keys(model: type[Model], loc: Loc = ()) -> Iterator[Key]:
    """Yield every key of a model and of what it holds, parents first."""
    for written, field in names(model).items():
        steps, inner = _inside(field.annotation)
        yield Key((*loc, written), field, inner)
        if inner:
            yield from keys(inner, (*loc, written, *steps))


def model_at(model: type[Model], loc: Loc) -> type[Model] | None:
    """Find the model that describes the object at ``loc``, which leads through known keys."""
    here: type[Model] | None = model
    position = 0
    while here and position < len(loc):
        steps, here = _inside(names(here)[str(loc[position])].annotation)
        position += 1 + len(steps)
    return here if position == len(loc) else None


def _inside(annotation: Any) -> tuple[Loc, type[Model] | None]:  # noqa: ANN401 - any annotation
    """Unwrap lists, dicts and None: the steps to a model within, and that model."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return (), annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    step: Loc = (0,) if origin is list else ("*",) if origin is dict else ()
    for argument in arguments[:1] if origin is Annotated else arguments:
        steps, model = _inside(argument)
        if model:
            return (*step, *steps), model
    return (), None
