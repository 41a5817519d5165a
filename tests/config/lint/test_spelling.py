"""Slips of the pen."""

import pytest

from tests.config.lint import bench


def test_a_lost_backslash_in_yaml() -> None:
    """The regex is written again as it was meant, with what comes of it as it is."""
    (found,) = bench.said(
        jobs=bench.jobs("""\
scrape_configs:
- job_name: gpu
  static_configs: [{targets: ['a:1']}]
  relabel_configs:
  - source_labels: [__address__]
    regex: ([^:]+)(?::d+)?
    replacement: ${1}:9400
    target_label: __address__
""")
    )
    assert (found.code, found.line, bench.excerpt(found)) == (
        "lost-backslash",
        6,
        "([^:]+)(?::d+)?",
    )
    assert found.message == (
        "'([^:]+)(?::d+)?' seems to have lost a backslash: d alone is the letter d, \\d is a digit"
    )
    assert found.help == (
        "write '([^:]+)(?::\\d+)?'; as it is, an address with a port does not match"
    )


def test_a_lost_backslash_in_json() -> None:
    """In JSON a backslash is written twice; matchers and selectors are looked at too."""
    written = bench.declaration(matcher="^w+$", selectors=["^DCGM_FI_DEV_GPU_UTIL$", "L(d+)$"])
    found = bench.said(bench.declaring(written))
    assert [each.code for each in found] == ["lost-backslash", "lost-backslash"]
    assert found[0].help == 'write "^\\\\w+$"'
    assert found[0].message.endswith("\\w is a letter, a digit or _")
    assert found[1].help == 'write "L(\\\\d+)$"'


def rule(**keys: str) -> list[str]:
    """Give message and help about a rule."""
    found = bench.said(jobs=bench.rule("pod", source_labels=["__address__"], **keys))
    assert {each.code for each in found} <= {"unknown-group", "literal-dollar"}
    return [f"{each.message}: {each.help}" for each in found]


@pytest.mark.parametrize(
    ("regex", "replacement", "said"),
    [
        ("(.+)", "$2", "the regex has no group 2, so ${2} gives nothing: it has 1"),
        (".+", "$1", "put (brackets) around"),
        ("(.+)", "$1_x", "a group's name goes as far as it can: write ${1}_x"),
        ("(.+)", "$HOST", "variables of the environment are not filled in here"),
        ("(?P<a>.+)", "$b", "no group b"),
        ("(.+)", "\\1:9400", "\\1 is no group here, but a backslash and a digit: write"),
    ],
)
def test_groups_that_are_not_there(regex: str, replacement: str, said: str) -> None:
    """What a replacement asks for and the regex has not is empty."""
    (found,) = rule(regex=regex, replacement=replacement, target_label="x")
    assert said in found


@pytest.mark.parametrize(
    ("regex", "replacement"),
    [
        ("(.+)", "$1"),
        ("(.+)", "${1}:9400"),
        ("(.+):(?P<port>.+)", "$1 $2 ${port} $0 $$ $$x"),
        (".+", "https"),
    ],
)
def test_groups_that_are_there(regex: str, replacement: str) -> None:
    """Numbers up to the last, names, the whole match and dollars are fine."""
    assert rule(regex=regex, replacement=replacement, target_label="x") == []


@pytest.mark.parametrize(
    ("replacement", "said"),
    [
        (
            "$$1:9400",
            "$$ is a dollar sign, which the label then has: for the group write",
        ),
        ("$${1}", 'for the group write "${1}"'),
        ("${env:NODE}", "${env:NODE} gets into the label as it is"),
        ("a-${env:NODE}-$1", "cwgpu.meta_env makes labels of the agent's environment"),
    ],
)
def test_what_other_programs_fill_in(replacement: str, said: str) -> None:
    """A collector's ``$$1`` and ``${env:NAME}`` would be taken for the value itself."""
    (found,) = rule(regex="(.+)", replacement=replacement, target_label="x")
    assert said in found


def test_groups_of_names() -> None:
    """The name of the label that is written, and those that a labelmap makes, are looked at too."""
    (found,) = rule(regex="(.+)", target_label="x_$2")
    assert "no group 2" in found
    (mapped,) = bench.said(jobs=bench.rule("pod", action="labelmap", regex=".+", replacement="$1"))
    assert (mapped.code, bench.excerpt(mapped)) == ("unknown-group", '"$1"')


def test_the_default_replacement() -> None:
    """Who writes no replacement has ``$1``: without a group the label is removed."""
    (found,) = rule(regex="a.*", target_label="x")
    assert "no group 1" in found
    assert bench.codes(jobs=bench.rule("pod", action="keep", regex="a", replacement="$4")) == []


def test_a_placeholder_that_was_left() -> None:
    """What somebody was to fill in is found wherever it stands in the agent's file."""
    config = bench.agent(
        {"agent": {"region": "{{region_name}}"}, "logs": {"log_stream_name": "{a}"}}
    )
    (found,) = bench.said(config)
    assert (found.code, found.path) == ("template-not-filled-in", "agent.region")
    assert found.message == "{{region_name}} was to be replaced before this is used"


def test_braces_in_jobs_are_no_placeholders() -> None:
    """In scrape jobs braces belong to regexes."""
    assert rule(regex="a{{2}}(b)", target_label="x") == []
