"""Metric declarations: from labels and a name to dimension sets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.emf import declare
from cwgpu.emf.declare import Declaration, Declared
from cwgpu.model.errors import RuleError

LABELS = {
    "Service": "dcgm-exporter",
    "Namespace": "gpu-mon",
    "ClusterName": "eks-lab",
    "job": "gpu",
    "pod": "train-7f",
    "empty": "",
    "bad": "größe",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Searches the pattern anywhere, as the configuration's regexes do."""

    pattern: str

    def __call__(self, text: str) -> bool:
        """Say whether it is there."""
        return re.search(self.pattern, text) is not None


def make(
    *sets: Sequence[str],
    labels: Sequence[str] = ("Service",),
    matcher: str = "dcgm",
    selector: str = "UTIL",
    separator: str = ";",
) -> Declaration:
    """Make a declaration with short defaults."""
    return declare.declaration(labels, Found(matcher), Found(selector), sets, separator=separator)


def test_names_are_sorted_and_equal_sets_become_one() -> None:
    """Names within a set are unique and in byte order, and a set comes once."""
    made = make(["pod", "ClusterName", "pod"], ["ClusterName", "pod"], ["job"], [])
    assert made.dimension_sets == (("ClusterName", "pod"), ("job",), ())


def test_thirty_dimensions_are_taken() -> None:
    """Sets may have the 30 names that CloudWatch takes."""
    names = [f"d{number:02}" for number in range(30)]
    assert make(names, ["pod"]).dimension_sets == (tuple(names), ("pod",))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([f"d{number}" for number in range(31)], "dimension set of 31 names: .* at most 30"),
        ([":x"], "dimension name ':x' begins with a colon: write another"),
        (["_aws"], "dimension name '_aws' is _aws"),
    ],
)
def test_a_set_that_cloudwatch_cannot_take_is_refused(names: list[str], message: str) -> None:
    """An impossible dimension set is a fault of the configuration, named when it is read."""
    with pytest.raises(RuleError, match=message):
        make(names)


@pytest.mark.parametrize(
    ("labels", "matcher", "separator", "matches"),
    [
        (["Service"], "^dcgm-exporter$", ";", True),
        (["Service"], "exporter", ";", True),
        (["Service"], "EXPORTER", ";", False),
        (["Service", "job"], "^dcgm-exporter;gpu$", ";", True),
        (["Service", "job"], "^dcgm-exporter/gpu$", "/", True),
        (["absent", "job"], "^;gpu$", ";", True),
        (["job", "empty"], "^gpu;$", ";", True),
    ],
)
def test_the_matcher_sees_the_joined_values(
    labels: list[str], matcher: str, separator: str, *, matches: bool
) -> None:
    """Source labels are joined with the declaration's own separator; absent counts as empty."""
    one = make(labels=labels, matcher=matcher, separator=separator)
    assert declare.matching([one], LABELS) == ((one,) if matches else ())


def test_selecting_keeps_the_order_of_the_declarations() -> None:
    """A name is selected by every declaration whose selector accepts it, in their order."""
    util, power, every = make(selector="UTIL$"), make(selector="POWER"), make(selector="")
    assert declare.selecting([util, power, every], "DCGM_FI_DEV_GPU_UTIL") == (util, every)


CLUSTER, POD, BOTH = ("ClusterName",), ("pod",), ("ClusterName", "pod")
FAULT = "the value of bad holds a character outside ASCII"


@pytest.mark.parametrize(
    ("declarations", "deduplicated", "repeated"),
    [
        pytest.param([make(BOTH)], ((BOTH,),), ((BOTH,),), id="one set"),
        pytest.param(
            [make(BOTH, ["gone"]), make(CLUSTER, BOTH)],
            ((BOTH, CLUSTER),),
            ((BOTH,), (CLUSTER, BOTH)),
            id="several declarations",
        ),
        pytest.param([make(POD), make(POD)], ((POD,),), ((POD,), (POD,)), id="the same set twice"),
        pytest.param([make([])], (((),),), (((),),), id="without dimensions"),
        pytest.param([make()], (), (), id="no sets"),
        pytest.param([make(["gone"])], (), (), id="only sets with absent labels"),
        pytest.param([make(["gone"], POD)], ((POD,),), ((POD,),), id="one set is skipped"),
        pytest.param([make(["gone"]), make(POD)], ((POD,),), ((POD,),), id="one declaration"),
        pytest.param([], (), (), id="no declarations"),
    ],
)
def test_directives(
    declarations: list[Declaration],
    deduplicated: tuple[tuple[tuple[str, ...], ...], ...],
    repeated: tuple[tuple[tuple[str, ...], ...], ...],
) -> None:
    """With dedup there is one directive with every set once, without it one a declaration."""
    assert declare.directives(declarations, LABELS, dedup=True).sets == deduplicated
    assert declare.directives(declarations, LABELS, dedup=False).sets == repeated


@pytest.mark.parametrize("dedup", [True, False])
def test_skipped_sets_are_named_once(*, dedup: bool) -> None:
    """Sets with an absent or empty label, or a value that is no dimension, are told apart."""
    declarations = [
        make(["gone"], ["empty", "pod"], ["bad", "pod"], ["bad", "gone"]),
        make(["gone"], ["bad", "pod"]),
    ]
    assert declare.directives(declarations, LABELS, dedup=dedup) == Declared(
        sets=(),
        missing=(("gone",), ("empty", "pod"), ("bad", "gone")),
        invalid=((("bad", "pod"), FAULT),),
    )


NAMES = st.lists(st.sampled_from(sorted([*LABELS, "gone"])), max_size=4)


@given(st.lists(st.lists(NAMES, max_size=4), max_size=4))
def test_every_set_is_used_or_accounted_for(written: list[list[list[str]]]) -> None:
    """Each set that is declared is used, missing or invalid, and never two of these."""
    declarations = [make(*sets) for sets in written]
    wanted = {tuple(sorted(set(names))) for sets in written for names in sets}
    for dedup in (True, False):
        found_sets = declare.directives(declarations, LABELS, dedup=dedup)
        used = {names for sets in found_sets.sets for names in sets}
        invalid = {names for names, _ in found_sets.invalid}
        accounted = [*used, *found_sets.missing, *invalid]
        assert sorted(accounted) == sorted(wanted)
