"""A changed configuration is taken up; a broken one leaves the last good one."""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cwgpu.agent.reload import Reload
from cwgpu.model.errors import ConfigurationError
from cwgpu.plan.kubernetes import Lease, Shard, ShardLease
from cwgpu.plan.plan import Plan
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen

LOOK_S = 5.0
MOST_S = 60.0
AMPLE_S = 30.0


@dataclass
class World:
    """Files, what reading them gives, and who follows."""

    witness: Witness
    file: Path
    other: Path
    hands: Hands = field(default_factory=Hands)
    loads: int = 0
    followed: list[Plan] = field(default_factory=list)
    region: str | None = None
    lease: Lease | None = None
    shard: Shard | None = None
    while_loading: str | None = None
    """What somebody writes into the file while it is being read."""
    hanging: threading.Event | None = None
    """Reading waits for it."""
    bug: Exception | None = None
    """What reading raises."""

    def load(self) -> Plan:
        """Make a plan of the first file: the namespace is its text; "broken" is broken."""
        if self.hanging is not None:
            self.hanging.wait(AMPLE_S)
        if self.bug is not None:
            raise self.bug
        text = self.file.read_text("utf-8") if self.file.exists() else "broken"
        if self.while_loading is not None:
            self.file.write_text(self.while_loading, "utf-8")
            self.while_loading = None
        self.loads += 1
        if text == "broken":
            raise ConfigurationError("agent.json:1:1: this is no configuration")
        files = [str(self.file), *([str(self.other)] if "with other" in text else [])]
        if "and more" in text:
            files.append(str(self.file.with_name("*.json")))
        made = kitchen.plan()
        return replace(
            made,
            emf=replace(made.emf, namespace=text),
            cloudwatch=replace(made.cloudwatch, region=self.region),
            lease=self.lease,
            shard=self.shard,
            files=tuple(files),
        )

    @contextlib.asynccontextmanager
    async def reloading(self) -> AsyncIterator[Reload]:
        """Watch while the block lasts."""
        reload = Reload(
            self.load(),
            self.load,
            self.followed.append,
            observer=self.witness.observer,
            clock=self.hands.clock,
        )
        running = asyncio.create_task(reload.run())
        await self.looked(1)
        yield reload
        running.cancel()

    async def looked(self, times: int) -> None:
        """Wait until it sleeps for the so-many-th time."""
        await stage.eventually(lambda: self.hands.naps.count(LOOK_S) >= times)

    async def look(self) -> None:
        """Let it look at the files once, and wait until it has done what there is to do."""
        naps = self.hands.naps.count(LOOK_S)
        await self.hands.move(LOOK_S)
        await self.looked(naps + 1)

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of the plans that were followed."""
        return [plan.emf.namespace for plan in self.followed]


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> World:
    """Give a world with two files."""
    made = World(Witness(caplog), tmp_path / "agent.json", tmp_path / "jobs.yaml")
    made.file.write_text("first", "utf-8")
    made.other.write_text("jobs", "utf-8")
    return made


async def test_nothing_changed(world: World) -> None:
    """Files that stay are not read again."""
    async with world.reloading():
        await world.look()
        await world.look()
    assert world.followed == []
    assert world.loads == 1


async def test_a_change_is_taken_up(world: World) -> None:
    """Within seconds, once; the journal and the self metrics say so."""
    async with world.reloading():
        world.file.write_text("second", "utf-8")
        await world.look()
        await world.look()
    assert world.namespaces == ["second"]
    assert world.witness.said("config_loaded") == [{}]
    assert world.witness.value("cwgpu_config_reloads_total", result="success") == 1
    assert world.witness.value("cwgpu_config_last_reload_successful") == 1


async def test_a_broken_file_leaves_the_last_good_plan(world: World) -> None:
    """It is told once; when it is mended it is taken up."""
    async with world.reloading():
        world.file.write_text("broken", "utf-8")
        await world.look()
        await world.look()
        assert world.followed == []
        (said,) = world.witness.said("reload_failed")
        assert said == {"reason": "agent.json:1:1: this is no configuration"}
        assert world.witness.value("cwgpu_config_last_reload_successful") == 0
        world.file.write_text("mended", "utf-8")
        await world.look()
    assert world.namespaces == ["mended"]
    assert world.witness.value("cwgpu_config_last_reload_successful") == 1


async def test_a_file_that_is_gone_for_a_moment(world: World) -> None:
    """A swap that is seen half done breaks nothing."""
    async with world.reloading():
        world.file.rename(world.other.with_name("aside"))
        await world.look()
        world.other.with_name("aside").rename(world.file)
        await world.look()
    assert world.namespaces == ["first"]


async def test_files_that_the_new_plan_names_are_watched(world: World) -> None:
    """Those that only the old one named are not."""
    async with world.reloading():
        world.file.write_text("with other", "utf-8")
        await world.look()
        world.other.write_text("more jobs", "utf-8")
        await world.look()
        assert world.namespaces == ["with other", "with other"]
        world.file.write_text("alone", "utf-8")
        await world.look()
        world.other.write_text("again", "utf-8")
        await world.look()
    assert world.namespaces[2:] == ["alone"]


async def test_whoever_asks_is_obeyed_at_once(world: World) -> None:
    """A SIGHUP reads the files again, changed or not."""
    async with world.reloading() as reload:
        reload.asked.set()
        await world.looked(2)
        assert world.namespaces == ["first"]
        await world.look()
    assert world.loads == 2


async def test_a_change_while_the_file_is_read(world: World) -> None:
    """It is seen at the next look."""
    async with world.reloading():
        world.file.write_text("second", "utf-8")
        world.while_loading = "third"
        await world.look()
        await world.look()
        await world.look()
    assert world.namespaces == ["second", "third"]


async def test_a_bug_while_the_file_is_read(world: World) -> None:
    """It is told with its traceback, and what is at work stays; the next change is taken up."""
    async with world.reloading():
        world.bug = RuntimeError("nobody thought of this")
        world.file.write_text("second", "utf-8")
        await world.look()
        assert world.witness.said("bug") == [{"reason": "reload"}]
        assert world.witness.value("cwgpu_config_last_reload_successful") == 0
        world.bug = None
        world.file.write_text("third", "utf-8")
        await world.look()
    assert world.namespaces == ["third"]


async def test_a_file_that_cannot_be_read_to_its_end(world: World) -> None:
    """After a minute it is told, and later changes are taken up."""
    async with world.reloading():
        world.hanging = threading.Event()
        world.file.write_text("second", "utf-8")
        await world.hands.move(LOOK_S)
        await stage.eventually(lambda: MOST_S in world.hands.naps)
        await world.hands.move(MOST_S)
        (said,) = world.witness.said("reload_failed")
        assert "a pipe that nobody writes to" in str(said["reason"])
        hanging, world.hanging = world.hanging, None
        hanging.set()
        world.file.write_text("third", "utf-8")
        await world.look()
    assert world.namespaces == ["third"]


async def test_a_pipe_is_not_looked_at(world: World) -> None:
    """Who opens one waits for somebody who writes to it; it is read when somebody asks for it."""
    pipe = world.file.with_name("pipe")
    os.mkfifo(pipe)
    plan = replace(world.load(), files=(str(pipe),))
    observer, clock = world.witness.observer, world.hands.clock
    reload = Reload(plan, lambda: plan, world.followed.append, observer=observer, clock=clock)
    running = asyncio.create_task(reload.run())
    await world.looked(1)
    await world.look()
    assert world.followed == []
    reload.asked.set()
    await world.looked(3)
    assert world.followed == [plan]
    running.cancel()


async def test_another_region_needs_a_restart(world: World) -> None:
    """The rest of the change is taken up, and a warning says what is not."""
    async with world.reloading():
        world.region = "eu-central-1"
        world.file.write_text("second", "utf-8")
        await world.look()
    assert world.namespaces == ["second"]
    (said,) = world.witness.said("config_warning")
    assert said == {"reason": "region, role_arn and endpoint_override change at a restart"}


async def test_another_lease_needs_a_restart(world: World) -> None:
    """Who leads is not decided anew while it scrapes."""
    async with world.reloading():
        world.lease = Lease("gpu", "lab")
        world.file.write_text("second", "utf-8")
        await world.look()
    assert world.namespaces == ["second"]
    (said,) = world.witness.said("config_warning")
    assert said == {"reason": "cwgpu.ha.lease changes at a restart"}


async def test_another_lease_of_shards_needs_a_restart(world: World) -> None:
    """Who would go by another one would count otherwise than the rest; the count itself may change.

    A plan with the same lease is followed in silence.
    """
    lease = ShardLease("gpu", "lab")
    async with world.reloading():
        for number, shard in enumerate(
            (Shard(2, 1, lease), Shard(3, 1, lease), Shard(3, 1), Shard(2, 1), None)
        ):
            world.shard = shard
            world.file.write_text(f"{number}", "utf-8")
            await world.look()
    assert world.namespaces == ["0", "1", "2", "3", "4"]
    said = world.witness.said("config_warning")
    assert said == [{"reason": "cwgpu.shard.lease changes at a restart"}] * 2


async def test_a_file_that_appears_where_more_may_come(world: World) -> None:
    """A new file of a directory that is read as a whole is a change; another kind is none."""
    world.file.write_text("first and more", "utf-8")
    async with world.reloading():
        world.file.with_name("notes.txt").write_text("notes", "utf-8")
        await world.look()
        assert world.loads == 1
        world.file.with_name("second.json").write_text("more", "utf-8")
        await world.look()
        await world.look()
    assert world.namespaces == ["first and more"]
    assert world.loads == 2
