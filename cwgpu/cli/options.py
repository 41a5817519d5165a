"""Flags with an environment twin: ``--log-level`` is also ``CWGPU_LOG_LEVEL``."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def option(*declarations: str, **settings: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - click's own settings
    """Make a click option that also reads ``CWGPU_<FLAG>``; the flag counts more."""
    longest = max(declarations, key=len)
    twin = "CWGPU_" + longest.removeprefix("--").split("/")[0].replace("-", "_").upper()
    return click.option(*declarations, envvar=twin, show_envvar=True, **settings)


def config(help_text: str) -> Callable[[Any], Any]:
    """Make ``-c``; the text says what it may hold, and what it is without the flag."""
    path = click.Path(path_type=Path)
    return option("-c", "--config", type=path, help=help_text)


def prometheus_config() -> Callable[[Any], Any]:
    """Make ``--prometheus-config``."""
    return option(
        "--prometheus-config",
        type=click.Path(path_type=Path),
        help="prometheus.yml to use in place of the one that the JSON names.",
    )


class Number(click.FloatRange):
    """A number within a range; ``nan``, which no range refuses, is none."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Read a number."""
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value!r} is no number: write digits", param, ctx)
        return found


class Seconds(click.ParamType[float]):
    """A duration such as ``30s``, ``5m`` or ``1h``, as seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read ``30s``; a number that was read before stays."""
        if isinstance(value, float):
            return value
        found = _DURATION.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no duration: write 30s, 5m or 1h", param, ctx)
        return float(found[1]) * _SECONDS[found[2]]
