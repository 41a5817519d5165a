"""`cwgpu explain relabel` and `explain target`, on the recorded answers of Prometheus 3.0.1."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cwgpu.cli import exits
from cwgpu.cli.main import cli
from cwgpu.model.errors import CwgpuError
from tests.cli import program

DATA = Path(__file__).parents[1] / "data"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "relabel.jsonl").read_text("utf-8").splitlines()
]
RULES = "- {action: keep, source_labels: [a], regex: '1'}\n- {target_label: b, replacement: x}\n"


def explain(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """Run within this process; gives exit code, stdout and stderr."""
    done = CliRunner().invoke(cli, ["explain", *arguments], input=stdin, standalone_mode=False)
    assert done.exception is None, done.exception
    return done.return_value, done.stdout, done.stderr


def answers(*arguments: str, stdin: str) -> list[dict[str, Any]]:
    """Give the lines of an answer in JSONL that had nothing to complain about."""
    code, stdout, stderr = explain(*arguments, "--labels", "-", "-o", "jsonl", stdin=stdin)
    assert (code, stderr) == (exits.OK, "")
    return [json.loads(line) for line in stdout.splitlines()]


@pytest.fixture
def rules(tmp_path: Path) -> str:
    """Name a file of two rules: a must be 1, b becomes x."""
    path = tmp_path / "rules.yml"
    path.write_text(RULES, "utf-8")
    return str(path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_labels_are_those_of_prometheus(row: dict[str, Any], tmp_path: Path) -> None:
    """Every recorded case: the labels after the rules, hidden ones too, or which rule dropped."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(row["relabel_configs"]), "utf-8")
    [answer] = answers("relabel", "--rules", str(path), stdin=json.dumps(row["labels_in"]) + "\n")
    assert answer["labels"] == row["relabeled"]
    last = answer["steps"][-1] if answer["steps"] else {"after": row["labels_in"]}
    assert last["after"] == row["relabeled"]
    if row["relabeled"] is None:
        dropped = answer["dropped_by"]
        assert dropped["index"] == last["index"] == len(answer["steps"]) - 1
        assert dropped["place"] == f"{path}:1"
        config = row["relabel_configs"][dropped["index"]]
        assert dropped["action"] == config["action"].lower()
        assert dropped["reason"].startswith(f"rule {dropped['index'] + 1} ({dropped['action']}): ")
    else:
        assert answer["dropped_by"] is None
        assert len(answer["steps"]) == len(row["relabel_configs"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_targets_are_those_of_prometheus(row: dict[str, Any], tmp_path: Path) -> None:
    """Every recorded case: outcome, URL, labels, interval and timeout."""
    path = tmp_path / "prometheus.yml"
    job = {"job_name": row["id"], **row["job"], "relabel_configs": row["relabel_configs"]}
    # The answers were recorded with this interval.
    whole = {"global": {"scrape_interval": "1h"}, "scrape_configs": [job]}
    path.write_text(json.dumps(whole), "utf-8")
    discovered = {"__address__": row["address"], **row["sd_labels"]}
    arguments = ("target", "-c", str(path), "--job", row["id"])
    [answer] = answers(*arguments, stdin=json.dumps(discovered) + "\n")
    assert answer["outcome"] == row["outcome"]
    for ours, theirs in (
        ("labels", "expected"),
        ("url", "scrape_url"),
        ("interval", "scrape_interval"),
        ("timeout", "scrape_timeout"),
    ):
        assert answer[ours] == row.get(theirs), ours
    assert (answer["reason"] is None) is (row["outcome"] == "active")
    assert (answer["dropped_by"] is None) is (row["outcome"] != "dropped")


def test_the_members_of_an_answer(rules: str) -> None:
    """They are these, in this order, and no others."""
    stdin = '{"a": "1"}\n{"a": "2"}\n'
    kept, dropped = answers("relabel", "--rules", rules, stdin=stdin)
    keep = {
        "index": 0,
        "place": f"{rules}:1",
        "action": "keep",
        "value": "1",
        "other": None,
        "regex": "1",
        "matched": True,
        "hint": None,
    }
    replace = {
        "index": 1,
        "place": f"{rules}:2",
        "action": "replace",
        "value": "",
        "other": None,
        "regex": "(.*)",
        "matched": True,
        "hint": None,
    }
    one, two = {"a": "1"}, {"a": "1", "b": "x"}
    assert kept == {
        "labels": two,
        "dropped_by": None,
        "steps": [
            {**keep, "before": one, "changed": {}, "after": one},
            {**replace, "before": one, "changed": {"b": [None, "x"]}, "after": two},
        ],
    }
    keep |= {"value": "2", "matched": False}
    reason = 'rule 1 (keep): "2" (of a) does not match the regex 1'
    assert dropped == {
        "labels": None,
        "dropped_by": {**keep, "reason": reason},
        "steps": [{**keep, "before": {"a": "2"}, "changed": {}, "after": None}],
    }


def test_the_members_of_a_target(tmp_path: Path) -> None:
    """They are these, for a target that is scraped and for one that is not."""
    path = tmp_path / "jobs.yml"
    path.write_text("scrape_configs: [{job_name: gpu, scrape_timeout: 5s}]", "utf-8")
    stdin = '{"__address__": "h:1", "a": "é"}\n{"__address__": ":1"}\n'
    active, rejected = answers("target", "-c", str(path), stdin=stdin)
    discovered = {
        "job": "gpu",
        "__scrape_interval__": "1m",
        "__scrape_timeout__": "5s",
        "__metrics_path__": "/metrics",
        "__scheme__": "http",
        "__address__": "h:1",
        "a": "é",
    }
    assert active == {
        "outcome": "active",
        "url": "http://h:1/metrics",
        "labels": {"instance": "h:1", "job": "gpu", "a": "é"},
        "interval": "1m",
        "timeout": "5s",
        "reason": None,
        "dropped_by": None,
        "discovered": discovered,
        "relabeled": discovered,
        "steps": [],
    }
    assert rejected["outcome"] == "rejected"
    assert rejected["reason"].startswith('__address__ ":1" names no host')
    for name in ("url", "labels", "interval", "timeout", "dropped_by"):
        assert rejected[name] is None
    assert rejected["relabeled"]["__address__"] == ":1"


def test_rules_for_samples(tmp_path: Path) -> None:
    """--metric takes the job's other rules."""
    path = tmp_path / "a:b.yml"
    path.write_text(
        "scrape_configs:\n- job_name: g:pu\n  relabel_configs: [{action: drop}]\n"
        "  metric_relabel_configs: [{action: labeldrop, regex: a}]\n- job_name: other\n",
        "utf-8",
    )
    [answer] = answers("relabel", "--metric", "--rules", f"{path}:g:pu", stdin='{"a":"1"}\n')
    assert answer["labels"] == {}
    [answer] = answers("relabel", "--rules", f"{path}:other", stdin='{"a":"1"}\n')
    assert answer["labels"] == {"a": "1"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"a": "1"}', 1),
        ('{\n  "a": "1",\n  "b": "2"\n}\n', 1),
        ('[{"a": "1"},\n {"a": "2"}]', 2),
        ("[\n{}\n]", 1),
        ('{"a": "1"}\r\n{"a": "2"}\r\n{}', 3),
        ('[{"a": "1"}]\n[{"a": "1"}, {}]\n', 3),
        ('\ufeff{"a": "1"}\n', 1),
        ("", 0),
    ],
)
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_the_forms_of_input(rules: str, tmp_path: Path, text: str, count: int, form: str) -> None:
    """An object, a list, or a line each: by file or standard input they give the same answers."""
    path = tmp_path / "labels"
    path.write_text(text, "utf-8")
    arguments = ("relabel", "--rules", rules, "-o", form, "--labels")
    by_file = explain(*arguments, str(path))
    assert by_file == explain(*arguments, "-", stdin=text)
    code, stdout, stderr = by_file
    assert (code, stderr) == (exits.OK, "")
    read = json.loads(stdout) if form == "json" else list(map(json.loads, stdout.splitlines()))
    assert len(read) == count


BAD = [
    (
        "not json",
        'no JSON: Expecting value, column 1; write labels as {"__address__": "10.0.12.34:9400"}',
    ),
    ('{"a": "1"', "no JSON: Expecting ',' delimiter, column 10"),
    ("", "an empty line; without labels it is {}"),
    ("[]", "an empty list; without labels a set is {}"),
    ('"a"', "wanted an object of labels, found a string"),
    ("true", "wanted an object of labels, found true"),
    ("null", "wanted an object of labels, found null"),
    ("NaN", "wanted an object of labels, found the number NaN"),
    ('{"a": 1}', 'label "a": wanted a string, found the number 1: write "1"'),
    ('{"a": 1e5}', 'label "a": wanted a string, found the number 1e5: write "1e5"'),
    ('{"a": null}', 'label "a": wanted a string, found null'),
    ('{"a": {}}', 'label "a": wanted a string, found an object'),
    ('{"a": "1", "a": "2"}', 'the label "a" stands twice'),
    ('{"a": "\\ud800"}', 'label "a": half of a \\u pair is no character'),
    ("[" * 100_000, "nested too deep; a label set is one object of strings"),
    ("9" * 5000, "wanted an object of labels, found the number 9999"),
]


@pytest.mark.parametrize("to_file", [False, True], ids=["stdin", "file"])
def test_bad_lines(rules: str, tmp_path: Path, *, to_file: bool) -> None:
    """Each is told with its number; the others are answered, and the exit code is 1."""
    text = "".join(f'{line}\n{{"a": "1"}}\n' for line, _ in BAD)
    path = tmp_path / "labels.jsonl"
    path.write_text(text, "utf-8")
    source, name = (str(path), str(path)) if to_file else ("-", "stdin")
    code, stdout, stderr = explain(
        "relabel", "--rules", rules, "-o", "jsonl", "--labels", source, stdin=text
    )
    assert code == exits.RUNTIME
    assert [json.loads(line)["labels"] for line in stdout.splitlines()] == [
        {"a": "1", "b": "x"}
    ] * len(BAD)
    said = stderr.splitlines()
    assert len(said) == len(BAD)
    for number, (line, (_, message)) in enumerate(zip(said, BAD, strict=True)):
        assert line.startswith(f"cwgpu: {name}:{2 * number + 1}: {message}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": "1"\n  "b": "2"\n}', ":3: no JSON: Expecting ',' delimiter, column 3"),
        ('[\n{"a": "1"},\n{"a": 2}]', '[1]: label "a": wanted a string, found the number 2'),
        (
            "words",
            ": no JSON: Expecting value, column 1; write labels as {",
        ),
    ],
)
def test_one_bad_text(rules: str, tmp_path: Path, text: str, said: str) -> None:
    """A text of several lines is one input: its fault is told with the line within it."""
    path = tmp_path / "labels.json"
    path.write_text(text, "utf-8")
    arguments = ("relabel", "--rules", rules, "-o", "json", "--labels")
    code, stdout, stderr = explain(*arguments, str(path))
    assert code == exits.RUNTIME
    assert stderr.startswith(f"cwgpu: {path}{said}")
    assert len(json.loads(stdout)) == ("[1]" in said)


def test_bytes_that_are_no_text(rules: str, tmp_path: Path) -> None:
    """Are a fault of their line alone."""
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b'{"a": "1"}\n{"a": "\xff"}\n{"a": "1"}\n')
    code, stdout, stderr = explain(
        "relabel", "--rules", rules, "-o", "jsonl", "--labels", str(path)
    )
    assert (code, len(stdout.splitlines())) == (exits.RUNTIME, 2)
    assert stderr == f"cwgpu: {path}:2: byte 8 is no UTF-8\n"


def test_several_answers_as_text(rules: str) -> None:
    """A blank line stands between them."""
    stdin = '{"a": "1"}\n{"a": "2"}\n'
    code, stdout, _ = explain("relabel", "--rules", rules, "--labels", "-", stdin=stdin)
    assert code == exits.OK
    heads = [part.splitlines()[0] for part in stdout.split("\n\n")]
    assert heads == ["KEPT", f"DROPPED by rule 1 (keep), {rules}:1"]


EVERY = """\
scrape_configs:
- job_name: gpu
  relabel_configs:
  - {source_labels: [a, b], target_label: c, regex: (.).(.), replacement: $2$1}
  - {source_labels: [a], target_label: a, regex: X}
  - {target_label: a, replacement: new}
  - {action: keepequal, source_labels: [b], target_label: b}
  - {action: hashmod, source_labels: [b], target_label: __m, modulus: 3}
  - {action: lowercase, source_labels: [b], target_label: b}
  - {action: labelmap, regex: x(.)}
  - {action: labeldrop, regex: "[xyz]."}
  - {action: labelkeep, regex: "__.*|[a-d]"}
  - {action: labeldrop, regex: nothing}
"""
TOLD = """\
ACTIVE http://h:1/metrics, every 1m, timeout 10s
  labels of its samples:
      a = "new"
      b = "b"
      c = "Ba"
      d = "é"
      instance = "h:1"
  discovered, with what the job adds:
      __address__ = "h:1"
      __metrics_path__ = "/metrics"
      __scheme__ = "http"
      __scrape_interval__ = "1m"
      __scrape_timeout__ = "10s"
      a = "a"
      b = "B"
      job = "gpu"
      xd = "é"
      ye = "\\n"
  [+] rule 1 (replace), jobs.yml:4
      "a;B" (of a, b) matches the regex (.).(.)
      + c = "Ba"
  [ ] rule 2 (replace), jobs.yml:5
      "a" (of a) does not match the regex X
  [+] rule 3 (replace), jobs.yml:6
      "" matches the regex (.*)
      ~ a = "new", was "a"
  [ ] rule 4 (keepequal), jobs.yml:7
      "B" (of b) equals "B" (of b)
  [+] rule 5 (hashmod), jobs.yml:8
      "B" (of b) is hashed modulo 3
      + __m = "2"
  [+] rule 6 (lowercase), jobs.yml:9
      "B" (of b) is rewritten
      ~ b = "b", was "B"
  [+] rule 7 (labelmap), jobs.yml:10
      the regex x(.) matches the names of 1 label: xd
      + d = "é"
  [+] rule 8 (labeldrop), jobs.yml:11
      the regex [xyz]. matches the names of 2 labels: xd, ye
      - xd = "é"
      - ye = "\\n"
  [+] rule 9 (labelkeep), jobs.yml:12
      the regex __.*|[a-d] matches the names of 10 labels: __address__, __m, __metrics_path__ ...
      - job = "gpu"
  [ ] rule 10 (labeldrop), jobs.yml:13
      the regex nothing matches the name of no label
"""


def test_every_action_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each looked at and did is to be read, and the verdict stands first."""
    monkeypatch.chdir(tmp_path)
    Path("jobs.yml").write_text(EVERY, "utf-8")
    labels = {"__address__": "h:1", "a": "a", "b": "B", "xd": "é", "ye": "\n"}
    arguments = ("target", "-c", "jobs.yml", "--labels", "-")
    assert explain(*arguments, stdin=json.dumps(labels)) == (exits.OK, TOLD, "")


def test_what_is_not_scraped_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule or the reason stands first, with a hint; rules of a further file have no place."""
    monkeypatch.chdir(tmp_path)
    Path("jobs.yml").write_text("scrape_config_files: [more.yml]", "utf-8")
    keep = {"action": "keep", "source_labels": ["a"], "regex": "x"}
    job = {"job_name": "gpu", "relabel_configs": [keep, {"target_label": "b"}, keep]}
    Path("more.yml").write_text(json.dumps({"scrape_configs": [job]}), "utf-8")
    arguments = ("target", "-c", "jobs.yml", "--labels", "-")
    _, stdout, _ = explain(*arguments, stdin='[{"a": "X"}, {"a": "x"}]')
    dropped, rejected = stdout.split("\n\n")
    assert dropped.startswith(
        "DROPPED by rule 1 (keep)\n"
        '  "X" (of a) does not match the regex x\n'
        "  hint: upper and lower case differ; this matches: (?i)x\n"
        "  discovered, with what the job adds:\n"
    )
    assert dropped.endswith("\n  2 more rules were not run")
    assert rejected.startswith(
        "REJECTED: no __address__; discovery gave none, or a rule removed it\n"
        "  The rules kept it, but it cannot be scraped.\n"
    )


@pytest.mark.parametrize("rules", ["", ":", ":jobs"])
def test_rules_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    """No name is not the name of the directory where the command is given."""
    monkeypatch.chdir(tmp_path)
    Path("rules.json").write_text("[]", "utf-8")
    arguments = ["explain", "relabel", "--rules", rules, "--labels", "-"]
    done = CliRunner().invoke(cli, arguments, input="{}", standalone_mode=False)
    assert isinstance(done.exception, CwgpuError)
    assert "rules.json" not in str(done.exception)


def test_no_labels_as_text(tmp_path: Path) -> None:
    """Said as such."""
    path = tmp_path / "rules.yml"
    path.write_text("- {action: keep, regex: ''}\n- {action: drop}\n- {target_label: b}", "utf-8")
    _, stdout, _ = explain("relabel", "--rules", str(path), "--labels", "-", stdin="{}")
    assert "\n  labels before: none\n" in stdout
    assert stdout.endswith("\n  1 more rule was not run\n")


def asked(rules: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start the program with all three streams in our hands."""
    return subprocess.Popen(
        [sys.executable, "-m", "cwgpu", "explain", "relabel", "--rules", rules, *arguments],
        env={**program.environ(), "PYTHONPATH": str(program.ROOT)},
        cwd=program.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def test_a_conversation(rules: str) -> None:
    """Each line is answered before the next is written; a bad one is told at once."""
    with asked(rules, "--labels", "-", "-o", "jsonl") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for value, labels in (("1", {"a": "1", "b": "x"}), ("2", None)):
            process.stdin.write(json.dumps({"a": value}).encode() + b"\n")
            assert json.loads(process.stdout.readline())["labels"] == labels
        process.stdin.write(b'{"a": \n')
        assert process.stderr.readline().startswith(b"cwgpu: stdin:3: no JSON: ")
        process.stdin.write(b'{"a": "3"}')
        done = program.ended(process)
    assert (done.code, done.stderr) == (exits.RUNTIME, "")
    assert [answer["labels"] for answer in done.events] == [None]


def test_a_reader_who_leaves(rules: str) -> None:
    """As with `| head -1`: no traceback, and no failure."""
    with asked(rules, "--labels", "-", "-o", "jsonl") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"{}\n")
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"{}\n" * 3)
        process.stdin.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == exits.OK


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["relabel", "--labels", "-"], 2, "Missing option '--rules'"),
        (["relabel", "--rules", "{rules}"], 2, "Missing option '--labels'"),
        (["relabel", "--rules", "{rules}", "--labels", "no"], 2, "--labels no cannot be read: No"),
        (["relabel", "--rules", "{rules}", "--labels", "/"], 2, "--labels / cannot be read: Is a"),
        (["relabel", "--rules", "{rules}:gpu", "--labels", "-"], 2, "leave :gpu out"),
        (["relabel", "--rules", "no:such", "--labels", "-"], 78, "--> no:such"),
        (["relabel", "--rules", "{bad}", "--labels", "-"], 78, "{bad}:2:11"),
        (["target", "-c", "{bad}", "--labels", "-"], 78, "error[wrong-type]"),
        (["target", "-c", "no.json", "--labels", "-"], 78, "the file cannot be read"),
        (["target", "--labels", "-"], 78, "there is no configuration"),
        (["taget"], 2, "No such command 'taget'. Did you mean 'target'?"),
    ],
)
def test_a_wrong_question(
    rules: str, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    """Nothing is answered; the exit code says whose fault it is, and stderr what to do."""
    bad = tmp_path / "bad.yml"
    bad.write_text("- target_label: a\n  action: drip\n", "utf-8")
    filled = [each.format(rules=rules, bad=bad) for each in arguments]
    done = program.run("explain", *filled)
    assert (done.code, done.stdout) == (code, "")
    assert said.format(bad=bad) in done.stderr
    assert "Traceback" not in done.stderr


def test_flags_have_variables(rules: str) -> None:
    """As those of every verb do."""
    env = {"CWGPU_RULES": rules, "CWGPU_OUTPUT": "json", "CWGPU_LABELS": "/dev/null"}
    assert program.run("explain", "relabel", env=env).stdout == "[]\n"


def test_it_imports_little(rules: str) -> None:
    """It is asked often, so nothing is loaded that speaks to the outside, nor the whole plan."""
    modules = program.imported("explain", "relabel", "--rules", rules, "--labels", "/dev/null")
    heavy = {"aiohttp", "boto3", "botocore", "asyncio", "prometheus_client", "orjson"}
    assert modules.isdisjoint(heavy | {"cwgpu.plan.plan", "cwgpu.config.agent"})
