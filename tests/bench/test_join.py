"""What target groups of 5,000 pods cost: made at first, looked through, and made anew in part.

The agent does the last one every 5 seconds at most, for some 170 pods at 2,000 changes a minute.
"""

import itertools

from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.discovery.join import Join
from cwgpu.kube.view import View
from cwgpu.model.objects import Pod
from cwgpu.prom.kubernetes.role import Role
from tests.bench.ledger import in_cpu_time
from tests.bench.pods import pod

COUNT, CHANGED = 5_000, 170

pytestmark = in_cpu_time


def pods() -> View[Pod]:
    """Give a view of all of them."""
    view: View[Pod] = View()
    for number in range(COUNT):
        view.put(pod(number))
    view.complete(view.objects.keys())
    return view


def test_groups_of_new_pods(benchmark: BenchmarkFixture) -> None:
    """What a start costs."""
    view = pods()
    groups = benchmark(lambda: Join(Role.POD, "", {}).groups([{"pod": view}]))
    assert len(groups) == COUNT


def test_groups_of_pods_of_which_some_changed(benchmark: BenchmarkFixture) -> None:
    """What a change costs: all are looked at, and few are made anew."""
    view, join = pods(), Join(Role.POD, "", {})
    join.groups([{"pod": view}])
    phases = itertools.cycle(("Pending", "Running"))

    def change() -> None:
        phase = next(phases)
        for number in range(CHANGED):
            view.put(pod(number, phase=phase))
        view.tell()

    before = join.groups([{"pod": view}])
    after = benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: join.groups([{"pod": view}]), setup=change, rounds=20
    )
    changed = sum(one is not other for one, other in zip(before, after, strict=True))
    assert changed == CHANGED
