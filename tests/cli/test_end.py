"""What the end of a run means to whoever started it."""

import pytest

from cwgpu.agent.lane import Trouble
from cwgpu.agent.orders import Ending
from cwgpu.agent.stock import Rest
from cwgpu.cli import end
from cwgpu.logs.verdict import Answer, Credentials, Denied, Retry, RetryKind
from cwgpu.model.drop import DropReason
from cwgpu.model.scrape import FailReason, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.sinks import stdout
from cwgpu.telemetry.account import Account, Seen

GOOD = Ending()
NETWORK, THROTTLED, SERVER = (
    Retry(kind) for kind in (RetryKind.NETWORK, RetryKind.THROTTLED, RetryKind.SERVER)
)
DENIED, EXPIRED = Denied("no"), Credentials("old")


def account(*, up: int = 0, down: int = 0, selected: int = 0, rejected: int = 0) -> Account:
    """Give an account of so many targets and samples."""
    made = Account()
    for number in range(up + down):
        target = Target("dcgm", f"http://{number}/", {}, 60.0, 10.0)
        failed = None if number < up else ScrapeFailed(0, FailReason.TIMEOUT, "", 10.0)
        made.seen[target.identity] = Seen(target, 1, failed)
    made.selected = selected
    made.lost_later.update({DropReason.REJECTED: rejected} if rejected else {})
    return made


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (account(up=1, selected=3), 0),
        (account(up=1, down=3, selected=3), 0),
        (account(down=1, selected=3), 0),
        (account(down=2), 69),
        (account(up=1, down=1), 4),
        (account(up=1), 4),
        (account(), 4),
        (account(up=1, selected=3, rejected=1), 1),
    ],
)
def test_what_was_found(found: Account, code: int) -> None:
    """Nothing found must not look like success, nor must data that CloudWatch refused."""
    assert end.code(GOOD, found, counts=True) == code


def test_a_bug_in_a_scrape_is_a_failure() -> None:
    """Also where other scrapes went well, and where nobody counts what was found."""
    found = account(up=1, selected=3)
    found.bugs = 1
    for counts in (True, False):
        assert end.code(GOOD, found, counts=counts) == 1


def test_finding_nothing_is_no_failure_where_it_does_not_count() -> None:
    """An agent with a duration has waited for its targets."""
    assert end.code(GOOD, account(down=1), counts=False) == 0
    assert end.code(GOOD, None, counts=False) == 0


@pytest.mark.parametrize(
    ("troubles", "code"),
    [
        ((DENIED,), 77),
        ((EXPIRED, NETWORK), 77),
        ((None, DENIED), 77),
        ((NETWORK,), 69),
        ((None, NETWORK), 69),
        ((SERVER,), 1),
        ((THROTTLED, NETWORK), 1),
    ],
)
def test_what_could_not_be_delivered(troubles: tuple[Trouble | None, ...], code: int) -> None:
    """The code says what to look at, whether it is lost or spooled: somebody waited for it."""
    for rest in (Rest(lost_samples=1), Rest(spooled=1, spooled_samples=1)):
        ending = Ending(troubles=troubles, rest=rest)
        assert end.code(ending, account(up=1, selected=3), counts=True) == code


@pytest.mark.parametrize(
    ("rest", "code"),
    [(Rest(), 0), (Rest(3, 9, 0), 0), (Rest(0, 0, 1), 1), (Rest(3, 9, 1), 1)],
)
def test_what_an_agent_that_was_told_to_stop_leaves(rest: Rest, code: int) -> None:
    """What is in the spool is as good as delivered; a sample that is lost is a failure."""
    ending = Ending(troubles=(NETWORK,) if rest != Rest() else (), rest=rest)
    assert end.code(ending, None, counts=False) == code


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (Ending(broken=Answer(stdout.CLOSED)), 0),
        (Ending(broken=Answer(stdout.FAILED)), 1),
        (Ending(bug=RuntimeError()), 1),
    ],
)
def test_what_broke(ending: Ending, code: int) -> None:
    """A reader that has gone is no failure; everything else is."""
    assert end.code(ending, account(up=1, selected=3), counts=True) == code
