"""The configuration of a run: files, environment, and a name that only EC2 or ECS knows."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cwgpu.config import load, naming
from cwgpu.config.complaint import Complaint, InvalidError, errors_in
from cwgpu.config.load import Examined
from cwgpu.plan.plan import Plan
from cwgpu.sinks import instance, task
from cwgpu.sinks.told import Told

NO_GROUP = "no-log-group"
"""The complaint that a cluster's name would answer."""


class Configuration:
    """Read as often as it changes. A name that was found once is kept: dimensions are made of it.

    Nobody is asked while the files or the environment tell the name, or nothing needs one.
    """

    def __init__(
        self, config: Path | None, prometheus: Path | None, environ: Mapping[str, str]
    ) -> None:
        """Take where the files are, as the command line says."""
        self._files = (config, prometheus)
        self._environ = dict(environ)

    def plan(self) -> Plan:
        """Read everything; raises InvalidError."""
        examined = load.examine(*self._files, self._environ)
        fault = ""
        if _would_help(examined):
            told = _ask(self._environ)
            fault = told.fault
            if told.name:
                self._environ[naming.VARIABLES[-1]] = told.name
                examined = load.examine(*self._files, self._environ)
        if examined.plan is None:
            raise InvalidError(_with(examined, fault))
        warnings = (*examined.plan.warnings, fault) if fault else examined.plan.warnings
        return replace(examined.plan, warnings=warnings)


def _ask(environ: Mapping[str, str]) -> Told:
    address = next((environ[each] for each in naming.TASK_VARIABLES if environ.get(each)), "")
    return task.cluster_name(address) if address else instance.cluster_name(environ)


def _would_help(examined: Examined) -> bool:
    """Tell whether the cluster's name is missed, and nothing else stands in the way."""
    others = [each for each in examined.complaints if each.code != NO_GROUP]
    draft = examined.draft
    return draft is not None and naming.is_missing(draft) and not errors_in(tuple(others))


def _with(examined: Examined, fault: str) -> tuple[Complaint, ...]:
    """Say why nobody helped beside the complaint that it did not answer."""
    return tuple(
        replace(each, help=f"{each.help}\n{fault}") if fault and each.code == NO_GROUP else each
        for each in examined.complaints
    )
