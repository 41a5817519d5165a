"""Whether every datapoint came that had to come, once: from scrapes, and from what was sent.

Expected are: of each gauge its value at every scrape, of each counter the difference at every
scrape but the first; each once for every dimension set whose labels are all there. ``sums`` counts
and sums up each metric of each target, exactly; ``points`` compares the datapoints one by one, as
the fake CloudWatch makes them of log events.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import orjson

from tests.bench.fleet import page
from tests.bench.fleet.record import Put
from tests.fakes import emf

SETS: tuple[tuple[str, ...], ...] = (
    ("Service", "Namespace", "ClusterName", "job", "pod"),
    ("Service", "Namespace", "ClusterName", "job"),
)
"""Those of the configuration that is shipped."""
CLOUDWATCH_NAMESPACE = "ContainerInsights/Prometheus"
_SHARED = {
    "Service": page.SERVICE,
    "Namespace": page.NAMESPACE,
    "ClusterName": page.CLUSTER,
    "job": page.JOB,
}
_STRICTLY_EVERY = 20
"""Of the calls that are summed up, so many are also read as strictly as ``points`` does."""
_SHOWN = 5

Found: TypeAlias = dict[tuple[str, str], list[float]]
"""Values by node and metric, each as often as it makes a datapoint."""
_Values: TypeAlias = list[list[float]]
"""Of each place of a page, in the order of scrapes."""


def sums(
    puts: Iterable[Put], counts: Sequence[int], gpus: int, fields: int
) -> tuple[list[str], int]:
    """Say what is wrong with the number and the sum of each metric's datapoints; nothing is good.

    ``counts`` says how often each target was scraped. Gives the number of datapoints, too.
    """
    found, wrong = _found(puts)
    datapoints = sum(map(len, found.values()))
    chosen = page.fields(fields)
    known: dict[int, dict[str, tuple[int, float]]] = {}
    for target, scrapes in enumerate(counts):
        if scrapes not in known:
            known[scrapes] = _expected(_sent(chosen, gpus, scrapes), chosen, gpus)
        for name, wanted in known[scrapes].items():
            values = found.pop((page.node(target), name), [])
            got = (len(values), math.fsum(values))
            if got != wanted:
                wrong.append(
                    f"{page.node(target)} {name}: {got[0]} datapoints of sum {got[1]!r}, and not "
                    f"{wanted[0]} of sum {wanted[1]!r}, of {scrapes} scrapes"
                )
    wrong += (f"{node} {name}: not expected" for node, name in found)
    return wrong, datapoints


def points(
    puts: Iterable[Put], counts: Sequence[int], gpus: int, fields: int
) -> tuple[list[str], int]:
    """Say which datapoints are missing, and which are too many; nothing is good.

    Gives the number of datapoints, too.
    """
    wrong: list[str] = []
    found: Counter[tuple[frozenset[tuple[str, str]], str, float]] = Counter()
    for put in puts:
        for event in put.events:
            extracted = emf.extract(event["message"], int(put.at_s * 1000))
            wrong += [extracted.error] if extracted.error else []
            found.update(
                (point.dimensions, point.name, point.value) for point in extracted.datapoints
            )
    chosen, datapoints = page.fields(fields), found.total()
    for target, scrapes in enumerate(counts):
        sent = iter(_sent(chosen, gpus, scrapes))
        for field, gpu in itertools.product(chosen, range(gpus)):
            values = next(sent)
            for dimensions in dimension_sets(target, gpu):
                found.subtract((dimensions, field.metric, value) for value in values)
    for (dimensions, name, value), count in found.items():
        if count:
            said = f"{count} too many" if count > 0 else f"{-count} missing"
            wrong.append(f"{name} {dict(dimensions)} {value!r}: {said}")
    return wrong, datapoints


def dimension_sets(target: int, gpu: int) -> Iterator[frozenset[tuple[str, str]]]:
    """Give the dimensions by which the datapoints of a GPU are kept."""
    labels = {**_SHARED, **page.pod(target, gpu)}
    for names in SETS:
        if labels.keys() >= set(names):
            yield frozenset((name, labels[name]) for name in names)


def shorten(wrong: Sequence[str]) -> list[str]:
    """Keep the first few, and count the rest."""
    more = len(wrong) - _SHOWN
    return [*wrong[:_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]


def _sent(chosen: Sequence[page.Field], gpus: int, scrapes: int) -> _Values:
    """Give the values that are sent of each place of the page."""
    texts = (page.values(chosen, gpus, scrape) for scrape in range(scrapes))
    shown = [[float(text) for text in column] for column in zip(*texts, strict=True)]
    return [
        [later - value for value, later in itertools.pairwise(column)] if field.counts else column
        for (field, _), column in zip(
            itertools.product(chosen, range(gpus)), shown or [[]] * len(chosen) * gpus, strict=True
        )
    ]


def _expected(
    sent: _Values, chosen: Sequence[page.Field], gpus: int
) -> dict[str, tuple[int, float]]:
    weights = [len(list(dimension_sets(0, gpu))) for gpu in range(gpus)]
    expected = {}
    for at, field in enumerate(chosen):
        columns = zip(sent[at * gpus : (at + 1) * gpus], weights, strict=True)
        values = [value for column, weight in columns for value in column * weight]
        if values:
            expected[field.metric] = (len(values), math.fsum(values))
    return expected


def _found(puts: Iterable[Put]) -> tuple[Found, list[str]]:
    """Read what events hold, quickly; some of them strictly as well."""
    found: Found = defaultdict(list)
    wrong: list[str] = []
    for at, put in enumerate(puts):
        for event in put.events:
            quick = _quick(event["message"], found)
            if at % _STRICTLY_EVERY:
                continue
            strict = emf.extract(event["message"], int(put.at_s * 1000))
            if strict.error or len(strict.datapoints) != quick:
                said = strict.error or f"{len(strict.datapoints)} datapoints and not {quick}"
                wrong.append(f"{said}: {event['message'][:200]}")
    return found, wrong


def _quick(message: str, found: Found) -> int:
    document = orjson.loads(message)
    count = 0
    for directive in document["_aws"]["CloudWatchMetrics"]:
        weight = len(directive["Dimensions"])
        for metric in directive["Metrics"]:
            name = metric["Name"]
            value = document[name]
            values = (value if isinstance(value, list) else [value]) * weight
            found[document["NodeName"], name] += values
            count += len(values)
    return count
