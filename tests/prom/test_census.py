"""All targets of a job judged, and those that are not scraped put together."""

from typing import Any

import pytest

from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.plan.plan import Job
from cwgpu.prom import census, hint, relabel, targeting
from cwgpu.prom.census import Judged, Lot
from cwgpu.prom.rule import Rule


def job(*rules: Rule) -> Job:
    """Make a job of these rules."""
    return Job("dcgm", 60.0, 10.0, relabel=rules)


def keep(name: str, regex: str, **more: Any) -> Rule:  # noqa: ANN401 - keys of a rule
    """Write a rule that keeps."""
    return relabel.rule(source_labels=[name], regex=regex, action="keep", **more)


def group(*values: str, label: str = "app", source: str = "a") -> TargetGroup:
    """Make a target for each value of a label."""
    targets = tuple(
        {"__address__": f"10.0.0.{index}:9400", label: value} for index, value in enumerate(values)
    )
    return TargetGroup(source, targets, {"zone": "b"})


def lots(of: Job, *groups: TargetGroup) -> list[Lot]:
    """Judge all, and put together what is not scraped."""
    return census.lots(of, [one for each in groups for one in census.judged(of, each)])


def seen(lot: Lot) -> list[tuple[str, int]]:
    """Give the values, and how often each was there."""
    return [(each.value, each.count) for each in lot.seen]


def test_the_same_is_judged_as_by_the_agent() -> None:
    """Kept, dropped, not to be scraped, not to be read: each as in targeting."""
    of = job(keep("app", "x.*"), relabel.rule(target_label="__address__", source_labels=["to"]))
    found = TargetGroup(
        "a",
        (
            {"__address__": "10.0.0.1:9400", "app": "x", "to": "10.0.0.2:9400"},
            {"__address__": "10.0.0.1:9400", "app": "y"},
            {"__address__": "10.0.0.1:9400", "app": "x1"},
            {"__address__": "10.0.0.1:9400", "app": "\udc80"},
        ),
        {"zone": "b"},
    )
    made = list(census.judged(of, found))
    expected = list(targeting.targets(of, found))
    for one, other in zip(made, expected, strict=True):
        assert type(one.target) is type(other)
        if isinstance(one.target, Target):
            assert one.target == other
        else:
            assert isinstance(other, DroppedTarget)
            assert (one.target.reason, one.target.rejected) == (other.reason, other.rejected)
            assert dict(one.target.discovered) == dict(other.discovered)
    assert [one.by and one.by.rule_index for one in made] == [None, 0, None, None]
    assert [one.source for one in made] == ["a"] * 4
    assert made[0].discovered["zone"] == "b"
    assert made[0].value == ""


def test_those_of_one_rule_are_together() -> None:
    """In the order of the rules; what is kept is in none."""
    of = job(
        keep("app", "dcgm.*"),
        relabel.rule(source_labels=["app"], regex="dcgm-server", action="drop"),
    )
    first, second = lots(of, group("dcgm-server", "dcgm-exporter", "web"), group("web", "shop"))
    assert first.reason == "rule 1 (keep): app does not match the regex dcgm.*"
    assert second.reason == "rule 2 (drop): app matches the regex dcgm-server"
    assert not first.rejected
    assert seen(first) == [("web", 2), ("shop", 1)]
    assert seen(second) == [("dcgm-server", 1)]
    assert first.by is not None
    assert first.by.rule_index == 0
    assert len(first.members) == 3


@pytest.mark.parametrize(
    ("action", "labels", "reason", "compared"),
    [
        ("keepequal", {"app": "a", "to": "b"}, "rule 1 (keepequal): app differs from to", "b"),
        ("dropequal", {"app": "a", "to": "a"}, "rule 1 (dropequal): app equals to", "a"),
    ],
)
def test_what_is_compared_with_a_label(
    action: str, labels: dict[str, str], reason: str, compared: str
) -> None:
    """Both values are told."""
    of = job(relabel.rule(source_labels=["app"], target_label="to", action=action))
    (lot,) = lots(of, TargetGroup("a", ({"__address__": "x:1", **labels},), {}))
    assert lot.reason == reason
    (value,) = lot.seen
    assert (value.value, value.other) == ("a", compared)


def test_a_rule_without_labels() -> None:
    """It compares nothing, and says so."""
    (lot,) = lots(job(relabel.rule(regex="x", action="keep")), group("a"))
    assert lot.reason == "rule 1 (keep): nothing does not match the regex x"


def test_what_is_nearly_right_comes_first() -> None:
    """One exporter among a hundred others is what was meant."""
    others = [f"app-{index:03}" for index in range(100)] * 2
    (lot,) = lots(job(keep("app", "^DCGM.*$")), group(*others, "nvidia-dcgm-exporter"))
    assert seen(lot)[0] == ("nvidia-dcgm-exporter", 1)
    assert lot.hint.endswith("this matches: (?i).*DCGM.*")
    assert lot.seen[1].hint == ""


def test_what_has_a_piece_of_the_regex_comes_before_what_is_frequent() -> None:
    """It may be what was meant, though nothing can be said for sure."""
    of = job(keep("app", "nvidia-dcgm-exporter"))
    (lot,) = lots(of, group("web", "web", "web", "shop", "shop", "dcgm-export"))
    assert seen(lot) == [("dcgm-export", 1), ("web", 3), ("shop", 2)]
    assert lot.hint == ""


def test_what_a_rule_drops_is_in_order_of_frequency() -> None:
    """There the regex says what was not meant."""
    of = job(relabel.rule(source_labels=["app"], regex="(dcgm|web).*", action="drop"))
    (lot,) = lots(of, group("dcgm", "web", "web"))
    assert seen(lot) == [("web", 2), ("dcgm", 1)]


def test_a_missing_label_is_told_of_the_target_that_has_another() -> None:
    """Of two targets without the label, the one that has nearly the same tells more."""
    of = job(keep("meta_pod_lable_app", "dcgm"))
    plain = TargetGroup("a", ({"__address__": "x:1"},), {})
    (lot,) = lots(of, plain, plain, group("dcgm", label="meta_pod_label_app"))
    assert seen(lot) == [("", 3)]
    assert "did you mean meta_pod_label_app?" in lot.hint


def test_rules_that_join_labels_expect_that_some_are_missing() -> None:
    """That is no news; a value that is nearly right still is."""
    of = job(relabel.rule(source_labels=["app", "name"], regex="dcgm;", action="keep"))
    web, dcgm = lots(of, group("web")), lots(of, group("DCGM"))
    assert web[0].hint == ""
    assert "upper and lower case" in dcgm[0].hint


def test_what_cannot_be_scraped_is_together_with_its_reasons() -> None:
    """After what rules dropped."""
    of = job(keep("app", "y.*"))
    addresses = ("", "", "a/b")
    found = TargetGroup("a", tuple({"__address__": each, "app": "y"} for each in addresses), {})
    dropped, rejected = lots(of, found, group("x"))
    assert not dropped.rejected
    assert (rejected.rejected, rejected.reason, rejected.by) == (True, census.REJECTED, None)
    assert [each.count for each in rejected.seen] == [2, 1]
    assert rejected.seen[0].value.startswith("no __address__")
    assert rejected.hint == ""


def test_other_reasons_say_it_all() -> None:
    """As that of a target that another shard has; they come last, and have no values."""
    of = job(keep("app", "y"))
    (one,) = census.judged(of, group("y"))
    gone = [
        Judged("a", one.discovered, DroppedTarget("dcgm", one.discovered, reason))
        for reason in ("theirs", "mine", "theirs")
    ]
    made = census.lots(of, [*gone, *census.judged(of, group("x"))])
    assert [(lot.reason.partition(":")[0], len(lot.members)) for lot in made] == [
        ("rule 1 (keep)", 1),
        ("mine", 1),
        ("theirs", 2),
    ]
    assert made[1].seen == ()
    assert made[1].hint == ""


def test_thousands_of_values_are_not_all_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that compares names of pods has a value for each; they are counted all the same."""
    looks = []

    def near(step: object) -> str:
        looks.append(step)
        return ""

    monkeypatch.setattr(hint, "near", near)
    names = [f"pod-{index}" for index in range(5000)]
    (lot,) = lots(job(keep("app", "x")), group(*names))
    assert len(lot.seen) == 5000
    assert 0 < len(looks) < 500


@pytest.mark.parametrize(
    ("pattern", "value", "length"),
    [
        ("^DCGM.*$", "nvidia-dcgm-exporter", 4),
        ("(?:nvidia-)?dcgm-exporter", "dcgm_exporter:4", 13),
        ("abc", "abc", 0),
        ("", "web", 0),
    ],
)
def test_likeness(pattern: str, value: str, length: int) -> None:
    """Case and signs do not count, nor do pieces that stand in any text."""
    assert hint.likeness(pattern, value) == length
