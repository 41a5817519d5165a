"""Target files: found, read again, broken, mended and taken away."""

import json
import os
from pathlib import Path

import pytest

from cwgpu.discovery import file, shape
from cwgpu.discovery.file import FileSource
from cwgpu.discovery.findings import Findings
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import FileDiscovery

ONE = '[{"targets": ["10.0.0.1:9400"], "labels": {"zone": "a"}}]'


def source(*patterns: Path, index: int = 0) -> FileSource:
    """Make a source of these patterns."""
    return FileSource(FileDiscovery(tuple(map(str, patterns)), refresh_s=300.0), index)


def addresses(findings: Findings) -> list[str]:
    """List the addresses found."""
    return [target["__address__"] for group in findings.groups for target in group.targets]


def naming(*targets: str) -> str:
    """Write a file that names these targets."""
    return json.dumps([{"targets": targets}])


def test_groups_carry_their_file(tmp_path: Path) -> None:
    """A group has the file's path as a label and in its source; its own path label is replaced."""
    path = tmp_path / "gpus.json"
    path.write_text(
        '[{"targets": ["a:9400", "b:9400"], "labels": {"zone": "a", "__meta_filepath": "x"}},'
        ' {"targets": ["c:9400"]}]'
    )
    assert source(path, index=2).read() == Findings(
        (
            TargetGroup(
                f"file/2/{path}:0",
                ({"__address__": "a:9400"}, {"__address__": "b:9400"}),
                {"zone": "a", "__meta_filepath": str(path)},
            ),
            TargetGroup(
                f"file/2/{path}:1", ({"__address__": "c:9400"},), {"__meta_filepath": str(path)}
            ),
        ),
        (),
    )


@pytest.mark.parametrize("name", ["gpus.yml", "gpus.yaml", "gpus.YML", "gpus.YAML"])
def test_yaml_by_extension(tmp_path: Path, name: str) -> None:
    """Every extension of YAML is read as YAML; a label is text as it is written."""
    path = tmp_path / name
    path.write_text("- targets:\n  - a:9400\n  labels:\n    rack: 010\n")
    (group,) = source(path).read().groups
    assert group.targets == ({"__address__": "a:9400"},)
    assert group.labels == {"rack": "010", "__meta_filepath": str(path)}


@pytest.mark.parametrize("name", ["gpus.json", "gpus.JSON"])
def test_json_by_extension(tmp_path: Path, name: str) -> None:
    """What is called JSON must be JSON, YAML will not do."""
    path = tmp_path / name
    path.write_text("- targets: [a:9400]\n")
    (fault,) = source(path).read().faults
    assert fault.startswith(f"{path}: line 1, column 1: this is no JSON")
    path.write_bytes(b"\xef\xbb\xbf" + ONE.encode())
    assert addresses(source(path).read()) == ["10.0.0.1:9400"]


def test_a_star_finds_files_in_order_of_their_names(tmp_path: Path) -> None:
    """In the last part wildcards are as in Go; in a folder's name every sign is itself."""
    folder = tmp_path / "[a]"
    folder.mkdir()
    for name in ("b.json", "a.json", ".c.json", "a.jsonx", "a[1].json", "a1.json"):
        (folder / name).write_text(naming(name))
    for pattern, names in {
        "*.json": [".c.json", "a.json", "a1.json", "a[1].json", "b.json"],
        "a*.json": ["a.json", "a1.json", "a[1].json"],
        "a[1].json": ["a1.json"],
        "a\\[1\\].json": ["a[1].json"],
        "?.json": ["a.json", "b.json"],
    }.items():
        found = source(folder / pattern).read()
        assert (addresses(found), found.faults) == (names, ())


def test_a_pattern_that_is_none_finds_nothing(tmp_path: Path) -> None:
    """That is a fault which says what to write; other patterns are not concerned."""
    (tmp_path / "a.json").write_text(ONE)
    found = source(tmp_path / "a[.json", tmp_path / "*.json").read()
    assert addresses(found) == ["10.0.0.1:9400"]
    (fault,) = found.faults
    assert fault.startswith(f"{tmp_path}/a[.json: [ begins something that does not end: name it")


def test_a_file_that_two_patterns_find_is_read_once(tmp_path: Path) -> None:
    """Its groups come once."""
    (tmp_path / "a.json").write_text(ONE)
    found = source(tmp_path / "*.json", tmp_path / "a.json", tmp_path / "a*.json").read()
    assert addresses(found) == ["10.0.0.1:9400"]


def test_changed_content_is_seen_whatever_the_times_say(tmp_path: Path) -> None:
    """Neither its size nor its time of change must change for other content to count."""
    path = tmp_path / "a.json"
    path.write_text(naming("a:9400"))
    files = source(path)
    first = files.read()
    times = path.stat()
    path.write_text(naming("b:9400"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert addresses(files.read()) == ["b:9400"]
    assert addresses(first) == ["a:9400"]


@pytest.mark.parametrize("content", [ONE, "[{"])
def test_what_did_not_change_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    """After the second reading a look is enough, until the file is another or was touched."""
    path, other = tmp_path / "a.json", tmp_path / "other"
    path.write_text(content)
    opened: list[Path] = []
    honest = Path.open

    def noted(self: Path, mode: str) -> object:
        opened.append(self)
        return honest(self, mode)

    monkeypatch.setattr(Path, "open", noted)
    files = source(path)
    found = [files.read() for _ in range(4)]
    assert len(opened) == 2
    assert all(one == found[0] for one in found)
    assert all(one.groups[:1] == found[0].groups[:1] for one in found)
    os.utime(path, ns=(1, 1))
    assert files.read() == found[0]
    assert len(opened) == 3
    other.write_bytes(naming("b:9400").encode())
    other.rename(path)
    assert addresses(files.read()) == ["b:9400"]


def test_the_groups_of_unchanged_content_are_the_same_objects(tmp_path: Path) -> None:
    """So whoever made targets of them need not do so again."""
    one, other = tmp_path / "a.json", tmp_path / "b.json"
    one.write_text(ONE)
    other.write_text(ONE)
    files = source(tmp_path / "*.json")
    first = files.read().groups
    other.write_text(naming("b:9400"))
    second = files.read().groups
    assert second[0] is first[0]
    assert second[1] != first[1]


def test_a_config_map_changes_by_its_links(tmp_path: Path) -> None:
    """The kubelet swaps the link to the folder; the file's own path stays the link it was."""
    for version in ("1", "2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "a.json").write_text(naming(f"v{version}:9400"))
    (tmp_path / "..data").symlink_to("1")
    (tmp_path / "a.json").symlink_to("..data/a.json")
    files = source(tmp_path / "*.json")
    for _ in range(3):
        assert addresses(files.read()) == ["v1:9400"]
    (tmp_path / "..new").symlink_to("2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert addresses(files.read()) == ["v2:9400"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b'[{"targets": ["a:9400"]', "line 1, column 24: this is no JSON"),
        (b'[{"targets": "a:9400"}]', "[0].targets is the text 'a:9400': write a list"),
        (b'[{"targets": ["\xff"]}]', "byte 16 is not UTF-8: write it in that encoding"),
    ],
)
def test_a_broken_file_keeps_its_last_good_targets(
    tmp_path: Path, content: bytes, fault: str
) -> None:
    """The fault comes at every reading until the file is mended; the targets stay all along."""
    path = tmp_path / "a.json"
    path.write_text(ONE)
    files = source(path)
    good = files.read()
    path.write_bytes(content)
    for _ in range(2):
        broken = files.read()
        assert broken.groups == good.groups
        (told,) = broken.faults
        assert told.startswith(f"{path}: {fault}")
        assert told.endswith("; until then the targets that it named before stay in use")
    path.write_text(naming("b:9400"))
    mended = files.read()
    assert (addresses(mended), mended.faults) == (["b:9400"], ())


def test_a_file_that_never_was_good_names_nothing(tmp_path: Path) -> None:
    """Then the fault speaks of no targets that stay."""
    path = tmp_path / "a.json"
    path.write_text("{}")
    found = source(path).read()
    assert found.groups == ()
    assert found.faults == (f"{path}: it holds a mapping: write a list such as {shape.EXAMPLE}",)


def test_a_file_named_in_full_that_is_missing_keeps_its_targets(tmp_path: Path) -> None:
    """It is on its way from one version to the next, or somebody made a mistake."""
    path = tmp_path / "a.json"
    files = source(path)
    assert files.read() == Findings(
        (),
        (f"{path}: there is no such file: create it, or name another in file_sd_configs",),
    )
    path.write_text(ONE)
    good = files.read()
    assert (addresses(good), good.faults) == (["10.0.0.1:9400"], ())
    path.unlink()
    gone = files.read()
    assert gone.groups == good.groups
    assert gone.faults[0].endswith("; until then the targets that it named before stay in use")
    path.write_text(ONE)
    assert files.read() == good


def test_a_file_that_a_star_found_goes_with_its_targets(tmp_path: Path) -> None:
    """Taking one file out of a directory is how its targets are withdrawn."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(naming(f"{name}:9400"))
    files = source(tmp_path / "*.json")
    assert addresses(files.read()) == ["a:9400", "b:9400"]
    (tmp_path / "a.json").unlink()
    found = files.read()
    assert (addresses(found), found.faults) == (["b:9400"], ())


def test_a_directory_that_is_away_takes_nothing_with_it(tmp_path: Path) -> None:
    """When the whole directory cannot be listed, that is no wish to scrape nothing."""
    folder = tmp_path / "sd"
    folder.mkdir()
    (folder / "a.json").write_text(ONE)
    other = tmp_path / "b.json"
    other.write_text(naming("b:9400"))
    files = source(folder / "*.json", other)
    good = files.read()
    folder.rename(tmp_path / "away")
    for _ in range(2):
        away = files.read()
        assert away.groups == good.groups
        (fault,) = away.faults
        assert fault == (
            f"{folder}/*.json: its directory cannot be listed (No such file or directory): "
            "create it and let cwgpu read it, or name another in file_sd_configs"
        )
    (tmp_path / "away").rename(folder)
    assert files.read() == good


def test_nothing_but_regular_files_is_opened(tmp_path: Path) -> None:
    """A pipe would be waited for without end, a directory cannot be read."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "lost.json").symlink_to(tmp_path / "nowhere.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.txt")
    (tmp_path / "real.txt").write_text(ONE)
    found = source(tmp_path / "*.json").read()
    assert addresses(found) == ["10.0.0.1:9400"]
    assert [fault.removeprefix(f"{tmp_path}/")[:30] for fault in found.faults] == [
        "folder.json: it is no regular ",
        "lost.json: there is no such fi",
        "pipe.json: it is no regular fi",
    ]


def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the system says comes with what to do about it."""
    path = tmp_path / "a.json"
    path.write_text(ONE)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)  # root may read anything, so modes prove nothing
    assert source(path).read().faults == (
        f"{path}: cannot be read (Permission denied): let cwgpu read it, or name another file",
    )


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound nothing is taken into memory, also if it grows while it is opened."""
    honest, paths = Path.open, [tmp_path / "large.json", tmp_path / "grows.json"]
    for path in paths:
        path.write_text(ONE)

    def grown(self: Path, mode: str) -> object:
        os.truncate(self, file.SIZE_BYTES + 1)
        return honest(self, mode)

    os.truncate(paths[0], file.SIZE_BYTES + 1)
    monkeypatch.setattr(Path, "open", grown)
    assert source(*paths).read().faults == tuple(
        f"{path}: it is larger than 32 MiB: use several files" for path in paths
    )
