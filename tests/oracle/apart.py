"""Everything in which an answer of the real programs is not ours, each with its reason.

The recorded answers, and Debian's programs, are of Prometheus 2.42; ours is to be what 3.0.1 gives.
This is the only place where a difference may be written down; test_rows.py keeps it from growing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cwgpu.model.reading import Refused
from tests.oracle.pages import OPENMETRICS, Page

# --- Recorded rows -------------------------------------------------------------------------------

APART: Mapping[str, Mapping[str, str]] = {
    "relabel": {},
    "exposition": {},
    "scrape_config": {},
    "staleness": {},
    "kubernetes_sd": {},
}
"""Rows that cannot apply to us, by file and id."""

ENDED: Mapping[str, str] = dict.fromkeys(
    ("pod_phase_Succeeded", "pod_phase_Failed"),
    "a pod that has ended is no target here, and is one there (docs/compatibility.md)",
)
"""Rows of kubernetes_sd whose groups we leave out on purpose."""


@dataclass(frozen=True, slots=True)
class Newer:
    """A row that 3.0.1 answers in another way than 2.42, whose scrape was recorded."""

    why: str
    samples: Sequence[Mapping[str, Any]] | None = None
    """What 3.0.1 makes of the page where the recorded answer of its parser does not tell."""


_TYPE = Newer("3.x reads a page only if its Content-Type is that of a format")
_UTF8 = Newer("3.x allows any UTF-8 in names")
_NORMAL = Newer("3.x writes the numbers of le and quantile in one form")

NEWER: Mapping[str, Newer] = {
    "ct_garbage": _TYPE,
    "ct_html": _TYPE,
    "ct_json": _TYPE,
    "ct_octet": _TYPE,
    "f_histogram": _NORMAL,
    "f_summary": _NORMAL,
    "h_no_content_type": _TYPE,
    "mr_rename_invalid": Newer(
        _UTF8.why,
        [
            {"name": "my-metric", "labels": {"a": "1"}, "value": "1"},
            {"name": "my-metric", "labels": {"a": "2"}, "value": "2"},
        ],
    ),
    "om_empty": Newer("an empty answer is a page without samples in 3.x, whatever its type", []),
    "om_exemplar_on_gauge": Newer("3.x allows an exemplar on any sample"),
    "om_histogram": _NORMAL,
    "om_quoted_name": _UTF8,
    "om_trailing_comma": Newer("3.x allows a comma after the last label"),
    "t_leading_space": _UTF8,
    "t_leading_space_labels": _UTF8,
    "t_leading_tab": _UTF8,
    "t_quoted_label": _UTF8,
    "t_quoted_name": _UTF8,
    "x_exported_empty_taken": Newer(
        "an empty label takes no exported_ name in 3.x",
        [{"name": "m", "labels": {"exported_pod": "a", "pod": "T"}, "value": "1"}],
    ),
}

REPORT = frozenset(
    {
        "scrape_duration_seconds",
        "scrape_samples_post_metric_relabeling",
        "scrape_samples_scraped",
        "scrape_series_added",
        "up",
    }
)
"""Series that are about the scrape and not from the page."""

# --- Debian's programs ---------------------------------------------------------------------------

NOT_DRAWN: Mapping[str, str] = {
    "a rule whose target_label is a template and whose value is empty": (
        "2.42 deletes the label of the unexpanded name, 3.x that of the expanded one"
    ),
    "a target_label template that makes a name with other than letters, digits and _": (
        "2.42 leaves such a rule without effect; 3.x allows any UTF-8 in names"
    ),
    "a newline in a label's value": "a dot of a regex matches it in 3.x only",
    "a discovered __param_NAME of a NAME in the job's params": (
        "2.42 overwrites it with the job's, 3.x keeps the discovered one"
    ),
    "addresses that end in :80 or :443": (
        "the option that makes 2.42 leave out the default port, as 3.x does, also takes it away"
    ),
    "a NUL byte in a page": (
        "the lexers of both versions pass over it in some places, such as behind # TYPE; recorded "
        "rows have the places where we follow them"
    ),
}
"""Inputs that are known to be answered unlike 3.0.1, or unlike us."""


_QUOTED = re.compile(r'[{,]\s*"')
_INDENTED = re.compile(r"^[ \t]+(?![#\s])", re.MULTILINE)
_WHOLE_QUANTILE = re.compile(r'summary(?s:.*)quantile\s*=\s*"\d+"')
_OM_COMMA = re.compile(r",\}")
_OM_EMPTY = re.compile(r"^$")
_OM_EXEMPLAR = re.compile(r"^[^ {\n]*(?<!_total)(?<!_bucket)[ {].* # \{", re.MULTILINE)
_EXPORTED = re.compile(r'exported_\w+\s*=\s*""')


def known_to_differ(page: Page) -> bool:
    """Tell whether Prometheus 2.42 is known to read this page unlike 3.0.1.

    The rows in ``NEWER`` have the reasons: names in quotes, blanks before a name, a whole number as
    quantile, a comma after the last label in OpenMetrics, an exemplar on what is no counter, an
    empty exported_ label.
    """
    searches = [_QUOTED, _INDENTED, _EXPORTED, _WHOLE_QUANTILE]
    if page.content_type == OPENMETRICS:
        searches += [_OM_COMMA, _OM_EXEMPLAR, _OM_EMPTY]
    return any(search.search(page.text) for search in searches)


# --- vmagent -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Meta:
    """Meta labels of a Kubernetes discovery that only one of two gives."""

    names: str
    """A regex, of what follows ``__meta_kubernetes_``."""
    why: str
    roles: frozenset[str] = frozenset()
    """Empty: all."""

    def has(self, role: str, name: str) -> bool:
        """Tell whether a label is one of them, be it renamed by ``EVERY`` or not."""
        bare = name.removeprefix("__meta_kubernetes_")
        return (not self.roles or role in self.roles) and bool(re.fullmatch(self.names, bare))


_BACKED = frozenset({"endpoints", "endpointslice"})

LACKING = (
    Meta("pod_workload_(kind|name)", "our own; Prometheus has neither"),
    Meta("pod_container_(id|image)", "younger than 1.79", frozenset({"pod"})),
    Meta("pod_container_(image|init)", "younger than 1.79 where a service leads to pods", _BACKED),
    Meta("service_(port_number|loadbalancer_ip)", "younger than 1.79", frozenset({"service"})),
    Meta("endpointslice_endpoint_conditions_(serving|terminating)", "younger than 1.79"),
    Meta("endpointslice_endpoint_(node_name|zone)", "younger than 1.79"),
)
"""What we give and vmagent 1.79 does not."""

ADDED = (
    Meta(
        "service_(cluster_ip|type)",
        "1.79 says all of a service there; 3.0.1 only name, labels and annotations",
        _BACKED,
    ),
)
"""What vmagent 1.79 gives and Prometheus 3.0.1 does not."""

ELSEWISE: Mapping[str, str] = {
    **ENDED,
    "pod_own_ns_and_names": "1.79 looks for its own namespace where only a pod has it",
    "pod_attach_node_missing": "1.79 gives the name of a node that it does not know",
    "ep_target_ref_node": "1.79 knows nodes of addresses by nodeName only, not by targetRef",
    "eps_nil_port": "1.79 takes no port for port 0, and an unknown readiness for false",
    "eps_deprecated_topology": "1.79 reads v1beta1's topology, and an unknown readiness as false",
}
"""Rows of kubernetes_sd that vmagent 1.79 answers in another way than 3.0.1, or than we."""

TIMES = frozenset({"__scrape_interval__", "__scrape_timeout__"})
"""vmagent writes times as Go does (24h0m0s), Prometheus in its own form (1d)."""


def with_port(instance: str, scheme: str) -> str:
    """Give ``instance`` as vmagent does: before 3.x, an address without a port got its scheme's."""
    bare = instance.rpartition("]")[2]
    return instance if ":" in bare else f"{instance}:{443 if scheme == 'https' else 80}"


# --- Our own decisions ---------------------------------------------------------------------------


def names_no_host(address: str) -> bool:
    """Tell whether an address has no host, such as ``:9400``.

    Prometheus scrapes its own host then; here the target is rejected, which is our decision.
    """
    before, colon, _ = address.rpartition(":")
    return (before if colon else address) in {"", "[]"}


def refused_earlier(refused: Refused) -> bool:
    """Tell whether we refused a page for a label that is there twice, which Prometheus may not.

    It looks for such labels when it stores, if they are still there: when one is empty both are
    gone by then, and the target's label, a rule or the drop of the sample may have removed them.
    Here the line is a bad one.
    """
    return refused.detail.endswith("is there twice")
