"""Targets that tell of the same GPU: who is heard, and who is said to share."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.tellers import Share, Tellers
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Reading
from cwgpu.model.target import Identity
from cwgpu.plan.plan import Dcgm, Prefer
from tests.digest import kitchen

UTIL, PROF, ENERGY = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_ENERGY"
A: Identity = ("a", "http://a", (("Service", "operator"),))
B: Identity = ("b", "http://b", (("Service", "addon"),))
C: Identity = ("b", "http://c", ())
A_FIRST = Prefer(("a", "b"))
PLAN = kitchen.by_job()


def told(*names: str, gpus: str = "1") -> dict[tuple[str, str], frozenset[str]]:
    """What a page tells of some GPUs, all the same."""
    return {(f"GPU-{number}", ""): frozenset(names) for number in gpus}


def tellers(*identities: Identity, prefer: Prefer | None = None) -> Tellers:
    """Targets that have told nothing yet."""
    made = Tellers()
    made.follow(prefer or Prefer())
    for identity in identities:
        made.of(identity)
    return made


def body(*names: str, gpus: str = "1", value: int = 1, more: str = "", kind: str = "gauge") -> str:
    """A page with these metrics of some GPUs."""
    return "".join(
        f'# TYPE {name} {kind}\n{name}{{UUID="GPU-{number}"{more}}} {value}\n'
        for name in names
        for number in gpus
    )


class Stage:
    """Pages of some targets, and what becomes of what they tell."""

    def __init__(self, prefer: Prefer, *identities: Identity) -> None:
        self.tellers = tellers(*identities, prefer=prefer)
        recipe = Recipe(PLAN, PLAN.jobs[0])
        self.pages = {
            each: Page(recipe, {"job": each[0], "Service": "dcgm"}, self.tellers.of(each))
            for each in identities
        }
        self.at_ms = kitchen.START_MS

    def read(self, identity: Identity, text: str) -> Reading:
        """Read a page, and take what it tells."""
        self.at_ms += kitchen.STEP_MS
        reading = self.pages[identity].read(text.encode(), self.at_ms)
        assert isinstance(reading, Reading)
        assert reading.samples == reading.selected + sum(each.count for each in reading.dropped)
        if reading.told is not None:
            self.tellers.take(identity, reading.told)
        return reading

    def sent(self, identity: Identity, text: str) -> dict[str, float]:
        """Read a page, and give what is sent of it."""
        return {point.name: point.value for point in kitchen.points(self.read(identity, text))}


def lost(reading: Reading) -> dict[DropReason, int]:
    """Count what was dropped."""
    return {each.reason: each.count for each in reading.dropped}


# --- Who shares -----------------------------------------------------------------------------------


def test_two_that_tell_the_same_share_it() -> None:
    """It is said when the second is heard, and counted in GPUs; nothing is decided."""
    both = tellers(A, B)
    assert both.take(A, told(UTIL, PROF, gpus="12")) == []
    assert both.take(B, told(UTIL, gpus="123")) == [Share(A, B, 2, decided=False)]
    assert both.twice == 2
    assert both.take(B, told(UTIL, gpus="123")) == []


@pytest.mark.parametrize(
    "other",
    [told(PROF), told(UTIL, gpus="2"), {("GPU-1", "7"): frozenset((UTIL,))}, {}],
    ids=["metrics", "gpus", "slices", "none"],
)
def test_what_is_different_is_not_shared(other: dict[tuple[str, str], frozenset[str]]) -> None:
    """Other metrics, another GPU, or a slice of one."""
    both = tellers(A, B)
    assert both.take(A, told(UTIL)) == []
    assert both.take(B, other) == []
    assert both.twice == 0


def test_slices_of_a_gpu_are_one_gpu() -> None:
    """What is counted are GPUs."""
    slices = {("GPU-1", number): frozenset((UTIL,)) for number in "123"}
    both = tellers(A, B)
    both.take(A, slices)
    assert both.take(B, slices) == [Share(A, B, 1, decided=False)]
    assert both.twice == 1


@pytest.mark.parametrize("how", ["empties", "forgotten", "gone"])
def test_one_that_ends_shares_nothing(how: str) -> None:
    """Whether it tells nothing any more, was not heard for long, or is no target any more."""
    both = tellers(A, B)
    both.take(A, told(UTIL))
    both.take(B, told(UTIL))
    ends = {
        "empties": lambda: both.take(A, {}),
        "forgotten": lambda: both.forget(A),
        "gone": lambda: both.keep({B}),
    }
    assert ends[how]() == [Share(A, B, 0, decided=False)]
    assert both.twice == 0
    assert both.take(A, told(UTIL)) == ([] if how == "gone" else [Share(A, B, 1, decided=False)])


def test_one_that_is_preferred_decides() -> None:
    """Such a pair is no doubling; with another order it is said again."""
    three = tellers(A, B, C, prefer=A_FIRST)
    three.take(B, told(UTIL))
    assert three.take(A, told(UTIL)) == [Share(A, B, 1, decided=True)]
    assert three.twice == 0
    three.take(C, told(UTIL))
    assert three.twice == 1
    found = three.follow(Prefer(("addon",), by="Service"))
    assert {each for each in found if A in each} == {
        Share(B, A, 1, decided=True),
        Share(A, C, 1, decided=False),
    }


def test_a_page_that_is_served_many_times_is_not_compared_with_all() -> None:
    """The first few are; the rest would cost the square of their number."""
    many: list[Identity] = [("a", f"http://{number:03}", ()) for number in range(100)]
    all_of_them = tellers(*many)
    pairs = [share for each in many for share in all_of_them.take(each, told(UTIL))]
    assert len(pairs) == 8 * 7 / 2
    assert all_of_them.twice == 1


def test_pages_that_change_for_ever_are_compared_all_the_same() -> None:
    """What is kept of sets that were told is bounded, and no set is mistaken for another."""
    both = tellers(A, B)
    both.take(B, told("DCGM_4999"))
    for number in range(5000):
        shares = both.take(A, told(f"DCGM_{number}"))
        assert len(shares) == (number == 4999)


def test_all_are_forgotten() -> None:
    """And their pages are learnt anew."""
    both = tellers(A, B)
    both.take(A, told(UTIL))
    both.take(B, told(UTIL))
    both.silence()
    assert (both.twice, both.of(A).stale, both.of(B).stale) == (0, True, True)
    assert both.take(A, told(UTIL)) == []


# --- Pages ----------------------------------------------------------------------------------------


def test_nothing_is_dropped_unless_one_is_preferred() -> None:
    """Both are sent, as the CloudWatch agent does."""
    stage = Stage(Prefer(), A, B)
    for identity in (A, B, A, B):
        assert stage.sent(identity, body(UTIL, PROF)) == {UTIL: 1, PROF: 1}


def test_what_only_the_other_has_stays() -> None:
    """Of GPU and metric that both tell, the preferred target's word is taken."""
    stage = Stage(A_FIRST, A, B)
    assert stage.sent(A, body(UTIL)) == {UTIL: 1}
    reading = stage.read(B, body(UTIL, gpus="12") + body(PROF))
    assert {(point.name, point.value) for point in kitchen.points(reading)} == {
        (UTIL, 1),
        (PROF, 1),
    }
    (drop,) = reading.dropped
    assert (drop.reason, drop.count, drop.names) == (DropReason.LESS_PREFERRED, 1, (UTIL,))
    assert stage.sent(A, body(UTIL, value=2)) == {UTIL: 2}


def test_one_that_is_found_later_is_preferred_from_the_next_scrape_on() -> None:
    """The other's page is learnt anew, and only then; before and after it is replayed."""
    stage = Stage(A_FIRST, A, B)
    page, text = stage.pages[B], body(UTIL).encode()
    stage.read(B, body(UTIL))
    assert page.replay(text, stage.at_ms) is not None
    stage.read(A, body(UTIL))
    assert page.replay(text, stage.at_ms) is None
    assert lost(stage.read(B, body(UTIL))) == {DropReason.LESS_PREFERRED: 1}
    replayed = page.replay(text, stage.at_ms)
    assert replayed is not None
    assert lost(replayed) == {DropReason.LESS_PREFERRED: 1}
    assert stage.pages[A].replay(text, stage.at_ms) is not None


def test_one_that_dies_hands_over() -> None:
    """The other's samples flow again; when it comes back, its page is learnt as a new one."""
    stage = Stage(A_FIRST, A, B)
    stage.read(A, body(UTIL))
    assert stage.sent(B, body(UTIL)) == {}
    stage.tellers.forget(A)
    assert stage.sent(B, body(UTIL)) == {UTIL: 1}
    assert stage.sent(A, body(UTIL)) == {UTIL: 1}
    assert stage.sent(B, body(UTIL)) == {}


def test_a_metric_that_goes_is_handed_over() -> None:
    """The preferred page has it no more, and the other's is sent."""
    stage = Stage(A_FIRST, A, B)
    stage.read(A, body(UTIL, PROF))
    assert stage.sent(B, body(UTIL, PROF)) == {}
    stage.read(A, body(UTIL))
    assert stage.sent(B, body(UTIL, PROF)) == {PROF: 1}


def test_an_empty_page_hands_nothing_over() -> None:
    """An exporter that reloads tells the same again in a moment."""
    stage = Stage(A_FIRST, A, B)
    stage.read(A, body(UTIL))
    assert stage.read(A, "").told is None
    assert stage.sent(B, body(UTIL)) == {}


def test_a_counter_that_is_handed_over_begins_anew() -> None:
    """What came in between was told by the other; it is not counted twice."""
    stage = Stage(A_FIRST, A, B)
    for value in (100, 110):
        stage.read(B, body(ENERGY, value=value, kind="counter"))
    stage.read(A, body(ENERGY, value=110, kind="counter"))
    stage.read(B, body(ENERGY, value=120, kind="counter"))
    stage.tellers.forget(A)
    again = stage.read(B, body(ENERGY, value=5000, kind="counter"))
    assert lost(again) == {DropReason.FIRST_OF_COUNTER: 1}
    assert stage.sent(B, body(ENERGY, value=5007, kind="counter")) == {ENERGY: 7}


def test_slices_are_told_apart() -> None:
    """What is told of one is not told of another, nor of the whole GPU."""
    stage = Stage(A_FIRST, A, B)
    stage.read(A, body(PROF, more=',GPU_I_ID="7"'))
    for other in (',GPU_I_ID="8"', ""):
        assert stage.sent(B, body(PROF, more=other)) == {PROF: 1}
    assert stage.sent(B, body(PROF, more=',GPU_I_ID="7"')) == {}


@pytest.mark.parametrize("name", ["nv_gpu_utilization", "dcgm_gpu_utilization"])
def test_metrics_of_others_are_not_compared(name: str) -> None:
    """Two programs on one GPU may both say how busy it is."""
    stage = Stage(A_FIRST, A, B)
    for identity in (A, B):
        assert stage.sent(identity, body(name)) == {name: 1}
    assert stage.tellers.twice == 0


def test_what_is_not_sent_is_not_told() -> None:
    """A target whose samples rules drop, or no declaration selects, takes nobody's word."""
    none = kitchen.plan(kitchen.declared("^other$", sets=kitchen.JOB))
    both = tellers(A, B, prefer=A_FIRST)
    page = Page(Recipe(none, none.jobs[0]), {"job": "a", "Service": "dcgm"}, both.of(A))
    assert kitchen.read(page, body(UTIL)).told == {}


@pytest.mark.parametrize(("prefer", "gauges"), [(A_FIRST, 0), (Prefer(), 1)])
def test_gauges_of_our_own_are_made_of_the_preferred_rows(prefer: Prefer, gauges: int) -> None:
    """An XID that two targets tell makes one gauge, selected or not."""
    plan = replace(PLAN, dcgm=Dcgm(xid_fatal=True))
    both = tellers(A, B, prefer=prefer)
    recipe = Recipe(plan, plan.jobs[0])
    for identity, made in ((A, 1), (B, gauges)):
        page = Page(recipe, {"job": identity[0], "Service": "dcgm"}, both.of(identity))
        reading = kitchen.read(page, body("DCGM_FI_DEV_XID_ERRORS"))
        assert len(reading.watched) == made
        both.take(identity, reading.told or {})


RANKED: dict[Identity, Identity] = {
    each: (*each[:2], (("rank", rank),)) for each, rank in zip((A, B, C), "123", strict=True)
}
OTHER = "# TYPE other gauge\nother 1\n"
PAGES = st.lists(
    st.tuples(
        st.sampled_from([A, B, C]),
        st.sets(st.tuples(st.sampled_from([UTIL, PROF]), st.sampled_from("12"))),
    ),
    max_size=12,
)


@settings(max_examples=50, deadline=None)
@given(pages=PAGES, gone=st.sampled_from([A, B, C]))
def test_once_all_were_read_again_nothing_is_told_twice(
    pages: list[tuple[Identity, set[tuple[str, str]]]], gone: Identity
) -> None:
    """Whatever came before: of those preferred differently, one tells each GPU and metric."""
    stage = Stage(Prefer(("1", "2"), by="rank"), *RANKED.values())
    texts = dict.fromkeys(RANKED, OTHER)
    for identity, rows in pages:
        texts[identity] = OTHER + "".join(body(name, gpus=gpu) for name, gpu in sorted(rows))
        stage.read(RANKED[identity], texts[identity])
    stage.tellers.forget(RANKED[gone])
    for _ in range(3):
        readings = [stage.read(RANKED[each], text) for each, text in texts.items()]
    told = {line for text in texts.values() for line in text.splitlines() if line[:4] == "DCGM"}
    assert sum(each.selected for each in readings) == len(RANKED) + len(told)
