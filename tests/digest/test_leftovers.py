"""Pages, of which each pod and each reload has new ones, go when nobody has them any more."""

import pytest

from cwgpu.emf.delta import Treatment
from cwgpu.plan.plan import Events, GroupBy, Plan
from tests import leftovers
from tests.digest import kitchen

PLANS = {
    "by labels": kitchen.by_job(),
    "by dimensions, a minute": kitchen.by_job(events=Events(GroupBy.DIMENSIONS, 60.0)),
    "counters as they are": kitchen.plan(counters=((lambda _: True, Treatment.ABSOLUTE),)),
}
BODIES = (
    '# TYPE t gauge\nt{pod="a"} 1\nt{pod="b"} 2\n# TYPE c counter\nc{pod="a"} 7\n',
    '# TYPE t gauge\nt{pod="a"} NaN\nt{pod="b"} 2\n# TYPE c counter\nc{pod="a"} 9\n',
    '# TYPE t gauge\nt{pod="a"} 3\nt{pod="c"} 2\n',
    "t 1\n}\n",
    "<html>",
)


def scraped(of: Plan) -> None:
    """Have a page scrape all of them, and another one take its place."""
    page, successor = kitchen.page(of), kitchen.page(of)
    for number, body in enumerate(BODIES * 2):
        page.read(body.encode(), kitchen.START_MS + number * kitchen.STEP_MS)
    successor.adopt(page)
    page.close()


@pytest.mark.parametrize("name", PLANS)
def test_a_page_goes_at_once(name: str) -> None:
    """Nothing of it waits for the garbage to be looked for."""
    scraped(PLANS[name])  # modules that are loaded late leave cycles of their own
    with leftovers.looked_for() as found:
        scraped(PLANS[name])
    assert found == []
