"""What the rules look at: the configuration as it is written, each part with its place."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cwgpu.config.agent import AgentFile, Declaration
from cwgpu.config.discovery import Discoveries
from cwgpu.config.metrics import PROMETHEUS, prometheus_of
from cwgpu.config.node import Loc
from cwgpu.config.own import Own
from cwgpu.config.prometheus import Global, RelabelRule, ScrapeConfig
from cwgpu.config.report import Report
from cwgpu.model.errors import RuleError
from cwgpu.prom import regex, relabel
from cwgpu.prom.regex import Searching

DECLARATIONS: Loc = (*PROMETHEUS, "emf_processor", "metric_declaration")
_DEFAULT_INTERVAL_MS = 60_000
_CLOSED = frozenset(("static_configs", "kubernetes_sd_configs"))
"""The discoveries whose targets have no labels but those that are known here."""


@dataclass(frozen=True, slots=True)
class Step:
    """A relabelling rule that can be compiled."""

    written: RelabelRule
    rule: relabel.Rule
    loc: Loc


@dataclass(frozen=True, slots=True)
class Job:
    """A scrape configuration."""

    written: ScrapeConfig
    defaults: Global
    report: Report
    loc: Loc
    steps: tuple[Step, ...]
    """Of ``relabel_configs``."""
    sample_steps: tuple[Step, ...]
    """Of ``metric_relabel_configs``."""
    inline: bool
    """Whether it stands in the agent's file, where variables are filled in."""

    @property
    def every_step(self) -> tuple[Step, ...]:
        """Both kinds of rules, in the order in which they come to work."""
        return self.steps + self.sample_steps

    @property
    def interval_ms(self) -> int:
        """How often it is scraped."""
        interval_ms = self.written.scrape_interval or self.defaults.scrape_interval
        return interval_ms or _DEFAULT_INTERVAL_MS

    @property
    def interval_loc(self) -> Loc:
        """Where that is written."""
        here = (*self.loc, "scrape_interval")
        return here if self.written.scrape_interval else ("global", "scrape_interval")

    @property
    def is_open(self) -> bool:
        """Whether its targets may have labels that stand nowhere in the configuration."""
        names = Discoveries.model_fields
        return self.lacks(*names) or any(
            getattr(self.written, name) for name in names if name not in _CLOSED
        )

    @property
    def is_partial(self) -> bool:
        """Whether something was refused that may give its targets or samples labels."""
        return self.lacks(*Discoveries.model_fields, "relabel_configs", "metric_relabel_configs")

    def lacks(self, *keys: str) -> bool:
        """Tell whether something of these was refused: then what follows from it is not known."""
        return self.report.lacks(self.loc, keys)


@dataclass(frozen=True, slots=True)
class Declared:
    """A metric declaration."""

    written: Declaration
    loc: Loc
    matches: Searching | None
    """None when the matcher cannot be compiled."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Its source labels."""
        return tuple(self.written.source_labels or ())

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """Its dimension sets."""
        return tuple(tuple(names) for names in self.written.dimensions or ())


@dataclass(frozen=True, slots=True)
class Subject:
    """A configuration as a whole; either half may be missing."""

    jobs: tuple[Job, ...] = ()
    own: Own = field(default_factory=Own)
    declared: tuple[Declared, ...] = ()
    report: Report | None = None
    """Of the agent's file; None when only jobs were given."""
    has_more_jobs: bool = False
    """Whether there are jobs in further files."""
    jobs_file: str = ""
    """Where the jobs stand that take the place of those in the agent's file, if any do."""

    @property
    def has_all_jobs(self) -> bool:
        """Whether all labels that targets may have can be told from the jobs."""
        is_open = self.has_more_jobs or any(job.is_open or job.is_partial for job in self.jobs)
        return bool(self.jobs) and not is_open

    @property
    def of_file(self) -> str:
        """Say whose the jobs are, where the agent's file has others."""
        return f" of {self.jobs_file}" if self.jobs_file else ""


def jobs(
    written: Sequence[ScrapeConfig], defaults: Global, report: Report, loc: Loc
) -> tuple[Job, ...]:
    """Compile what can be compiled of the jobs at ``loc``."""
    return tuple(
        Job(
            each,
            defaults,
            report,
            (*loc, index),
            tuple(_steps(each.relabel_configs, (*loc, index, "relabel_configs"))),
            tuple(_steps(each.metric_relabel_configs, (*loc, index, "metric_relabel_configs"))),
            inline=len(loc) > 1,
        )
        for index, each in enumerate(written)
    )


def _steps(written: Iterable[RelabelRule], loc: Loc) -> Iterator[Step]:
    for index, each in enumerate(written):
        try:
            rule = relabel.rule(**{key: getattr(each, key) for key in each.model_fields_set})
        except RuleError:
            continue  # it was complained about
        yield Step(each, rule, (*loc, index))


def declared(written: AgentFile) -> Iterator[Declared]:
    """Give the declarations of the agent's file that extract something."""
    prometheus = prometheus_of(written)
    processor = prometheus.emf_processor
    if processor is None or prometheus.disable_metric_extraction:
        return
    for index, each in enumerate(processor.metric_declaration):
        try:
            matches = regex.searching(each.label_matcher)
        except RuleError:
            matches = None
        yield Declared(each, (*DECLARATIONS, index), matches)


def spelled(report: Report, loc: Loc, text: str) -> str:
    """Write a text as it would stand at ``loc``: in JSON, or in YAML's single quotes."""
    node = report.root.find(loc)
    if node and node.style == '"':
        return json.dumps(text, ensure_ascii=False)
    return "'" + text.replace("'", "''") + "'"
