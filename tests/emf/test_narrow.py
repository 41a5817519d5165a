"""What of a label set can be sent, before anything is packed; see also test_template."""

from cwgpu.emf import narrow
from cwgpu.emf.template import Metric
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import pairs

LABELS = pairs({"job": "gpu", "pod": "train-7f", "_aws": "x"})
JOB, POD = ("job",), ("pod",)


def test_what_is_whole_stays_as_it_is() -> None:
    """Metrics keep their sets, and the labels are shown but for the reserved one."""
    metrics = (Metric("a", ((POD, JOB),)), Metric("b", ()))
    found = narrow.narrow(LABELS, metrics)
    assert (*found.places,) == (0, 1)
    assert found.metrics is metrics
    assert found.labels == (("job", "gpu"), ("pod", "train-7f"))
    assert (found.dropped, found.skipped) == ((), ())


def test_an_empty_label_is_none() -> None:
    """It is not shown, and no set can use it."""
    found = narrow.narrow((("job", ""), ("pod", "p")), (Metric("a", ((JOB, POD),)),))
    assert found.labels == (("pod", "p"),)
    assert (*found.places,) == (0,)
    assert found.metrics == (Metric("a", ((POD,),)),)
    assert found.skipped == ((0, JOB),)


def test_a_metric_takes_the_place_of_a_label_of_its_name() -> None:
    """Also of one that no dimension set names; one that cannot be sent takes none."""
    found = narrow.narrow(LABELS, (Metric("pod", ((JOB,),)), Metric("job", ((JOB,),))))
    assert found.labels == (("job", "gpu"),)
    assert (*found.places,) == (0,)
    assert found.metrics == (Metric("pod", ((JOB,),)),)
    assert found.dropped == ((1, DropReason.DIMENSION_MISSING),)
