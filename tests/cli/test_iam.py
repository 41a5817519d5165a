"""``cwgpu iam``: the least rights, and the commands that give them."""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from moto.server import ThreadedMotoServer

from cwgpu.cli import exits
from cwgpu.cli.iam import rights, script
from cwgpu.cli.iam.rights import Rights
from cwgpu.config import load
from cwgpu.digest import stream
from cwgpu.logs.parcel import pack
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.plan.plan import CloudWatch, Emf, Plan
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.cli import program
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.iam import allowed

SHIPPED = ("-c", str(program.ROOT / "config/cwagent.json"))
LAB = {"CLUSTER_NAME": "lab", "AWS_REGION": "eu-west-1"}
ACCOUNT = "111122223333"
ROLE = "arn:aws:iam::444455556666:role/metrics/logs"
GROUP = "/aws/containerinsights/lab/prometheus"


def given(
    *,
    group: str = GROUP,
    name: str = "{JobName}",
    environ: Mapping[str, str] = LAB,
    account: str | None = ACCOUNT,
    trust: str | None = None,
    **aws: Any,  # noqa: ANN401 - of the plan
) -> Rights:
    """Give the rights of a plan."""
    cloudwatch = CloudWatch(log_group=group, log_stream=name, **aws)
    plan = Plan((), Emf("GPU", (), cluster_name="lab"), cloudwatch)
    return rights.of(plan, environ, account=account, trust=trust)


def resources(found: Rights, sid: str = "MakeStreams") -> list[str]:
    """Give what a statement of the policy is about."""
    (statement,) = [each for each in found.policy["Statement"] if each["Sid"] == sid]
    about: list[str] = statement["Resource"]
    return about


def actions(found: Rights) -> set[str]:
    """Give all that the policy allows."""
    return {action for each in found.policy["Statement"] for action in each["Action"]}


@pytest.mark.parametrize(
    ("aws", "environ", "begin"),
    [
        ({"region": "eu-west-1"}, {}, "arn:aws:logs:eu-west-1:"),
        ({"region": "cn-north-1"}, {}, "arn:aws-cn:logs:cn-north-1:"),
        ({"region": "us-gov-west-1"}, {}, "arn:aws-us-gov:logs:us-gov-west-1:"),
        ({"region": "eu-west-1"}, {"AWS_REGION": "eu-west-2"}, "arn:aws:logs:eu-west-1:"),
        (
            {},
            {"AWS_REGION": "eu-west-2", "AWS_DEFAULT_REGION": "eu-west-3"},
            "arn:aws:logs:eu-west-2:",
        ),
        ({}, {"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-3"}, "arn:aws:logs:eu-west-3:"),
        ({}, {}, "arn:aws:logs:*:"),
        ({"role_arn": "arn:aws-cn:iam::1:role/x"}, {}, "arn:aws:logs:*:"),
        ({"role_arn": "arn:aws-cn:iam::444455556666:role/x"}, {}, "arn:aws-cn:logs:*:"),
    ],
)
def test_region_and_partition(
    aws: Mapping[str, str], environ: Mapping[str, str], begin: str
) -> None:
    """The configuration's region, else the environment's as the SDK reads it, else any."""
    found = given(environ=environ, **aws)
    assert all(each.startswith(begin) for each in resources(found))
    assert ("in every region" in " ".join(found.asides)) == (":*:" in begin)


@pytest.mark.parametrize(
    ("role_arn", "account", "expected"),
    [
        (None, ACCOUNT, ACCOUNT),
        (None, None, "*"),
        (ROLE, None, "444455556666"),
        (ROLE, ACCOUNT, "444455556666"),
        ("arn:aws:iam::${ACCOUNT}:role/logs", None, "*"),
        ("arn:aws:iam::${ACCOUNT}:role/logs", ACCOUNT, ACCOUNT),
    ],
)
def test_the_account(role_arn: str | None, account: str | None, expected: str) -> None:
    """The log group is in that of the role that makes it; where none is known, it may be any."""
    found = given(role_arn=role_arn, account=account)
    assert f"arn:aws:logs:eu-west-1:{expected}:log-group:{GROUP}" in resources(found)
    assert ("in every account" in " ".join(found.asides)) == (expected == "*")


@pytest.mark.parametrize(
    ("group", "name", "expected"),
    [
        ("/gpu", "all", ":log-group:/gpu:log-stream:all"),
        ("/gpu/{ClusterName}", "{JobName}", ":log-group:/gpu/lab:log-stream:*"),
        ("/gpu/{NodeName}", "{ClusterName}", ":log-group:/gpu/*:log-stream:lab"),
        ("/gpu", "a?{PodName}", ":log-group:/gpu:log-stream:a${?}*"),
    ],
)
def test_names_of_group_and_stream(group: str, name: str, expected: str) -> None:
    """What the configuration knows is exact; what comes from labels is a star."""
    (found,) = resources(given(group=group, name=name), "SendEvents")
    assert found == f"arn:aws:logs:eu-west-1:{ACCOUNT}{expected}"


async def test_the_policy_is_what_the_sink_does_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that makes all there is to make needs each of its actions, on these resources."""
    found = given(retention_days=7)
    key = stream.resolve(GROUP, "{JobName}", {"job": "dcgm"})
    async with FakeCloudWatch() as cloudwatch:
        for name in ("AWS_REGION", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in cloudwatch.environ.items():
            monkeypatch.setenv(name, value)
        sink = CloudWatchSink(Access(), retention_days=7)
        parcel = pack(LogBatch(key, (EmfEvent.of(key, int(time.time() * 1000), b"{}", 1, 1),)))
        await sink.send(parcel)
        await sink.create(key)
        assert (await sink.send(parcel)).code == ""
        await sink.close()
    assert cloudwatch.groups[GROUP].retention_days == 7
    assert {f"logs:{action}" for action in cloudwatch.actions} == actions(found)
    for action in actions(found):
        assert allowed(found.policy, action, _resource(action, key))


def _resource(action: str, key: StreamKey) -> str:
    """Give what the service names when it refuses the action."""
    groups = f"arn:aws:logs:eu-west-1:{ACCOUNT}:log-group"
    return {
        "logs:PutLogEvents": f"{groups}:{key.group}:log-stream:{key.stream}",
        "logs:CreateLogStream": f"{groups}:{key.group}:log-stream:{key.stream}",
        "logs:CreateLogGroup": f"{groups}:{key.group}:log-stream:",
        "logs:PutRetentionPolicy": f"{groups}:{key.group}:log-stream:",
        "logs:DescribeLogGroups": f"{groups}::log-stream:",
    }[action]


def test_what_the_configuration_does_not_use_is_not_allowed() -> None:
    """No retention without its key; never anything of CloudWatch itself, which reads the logs."""
    assert "logs:PutRetentionPolicy" not in actions(given())
    assert all(action.startswith("logs:") for action in actions(given(retention_days=1)))


def test_a_role_that_is_named_writes_and_the_pods_take_it_on() -> None:
    """There are two policies then."""
    found = given(role_arn=ROLE)
    assert found.assume is not None
    assert found.assume["Statement"] == [
        {
            "Sid": "AssumeRole",
            "Effect": "Allow",
            "Action": ["sts:AssumeRole"],
            "Resource": [ROLE],
        }
    ]
    assert given().assume is None


def test_sessions_of_pod_identity_hand_their_tags_on() -> None:
    """Without the right to do so the next role cannot be taken on."""
    found = given(role_arn=ROLE, trust="pod-identity")
    assert found.assume is not None
    assert found.assume["Statement"][0]["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert "sts:TagSession" in script.text(found).rpartition("add:")[2]


@pytest.mark.parametrize("region", ["eu-west-1", "cn-north-1"])
def test_the_role_trusts_the_service_account_alone(region: str) -> None:
    """Both ways name the namespace and the account of the manifests."""
    document = (program.ROOT / "manifests/base/serviceaccount.yaml").read_text("utf-8")
    account = yaml.safe_load(document)["metadata"]
    assert account["namespace"] == rights.NAMESPACE
    assert account["name"] == rights.SERVICE_ACCOUNT
    irsa = given(region=region, trust="irsa").trust
    pods = given(region=region, trust="pod-identity").trust
    assert irsa is not None
    assert pods is not None
    (statement,) = irsa["Statement"]
    assert statement["Condition"]["StringEquals"] == {
        "${PROVIDER}:aud": "sts.amazonaws.com",
        "${PROVIDER}:sub": "system:serviceaccount:amazon-cloudwatch:cwgpu",
    }
    (statement,) = pods["Statement"]
    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    tags = statement["Condition"]["StringEquals"]
    assert set(tags.values()) == {"amazon-cloudwatch", "cwgpu"}


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """Run moto's server and give its address."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.mark.parametrize("trust", ["irsa", "pod-identity"])
@pytest.mark.parametrize("role_arn", [None, ROLE])
def test_iam_takes_every_document(moto: str, trust: str, role_arn: str | None) -> None:
    """The grammar of policies is checked by whoever stores them."""
    iam = boto3.client(
        "iam",
        endpoint_url=moto,
        region_name="us-east-1",
        aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="secret",  # noqa: S106 - moto takes any
    )
    found = given(role_arn=role_arn, trust=trust, group="/gpu/{PodName}", name="a?b$")
    documents = found.documents()
    name = f"{trust}-{bool(role_arn)}"
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(documents.pop("trust")))
    for each, document in documents.items():
        iam.put_role_policy(RoleName=name, PolicyName=each, PolicyDocument=json.dumps(document))
    assert set(iam.list_role_policies(RoleName=name)["PolicyNames"]) == set(documents)
    iam.close()


ISSUER = "https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE"
AUDIENCE = "sts.amazonaws.com"
DOCUMENT = "--assume-role-policy-document file://cwgpu-trust.json"
MAKE_ROLE = f"aws iam create-role --role-name cwgpu {DOCUMENT}"
PUT_POLICY = (
    "aws iam put-role-policy --role-name {} --policy-name cwgpu "
    "--policy-document file://cwgpu-{}.json"
)
PODS = "kubectl -n amazon-cloudwatch"
WHOSE = "--namespace amazon-cloudwatch --service-account cwgpu"
KINDS = "deployment,daemonset,statefulset"
RESTART = f"{PODS} rollout restart {KINDS} -l app.kubernetes.io/name=cwgpu"
TOOL = """#!/bin/sh
{ printf %s "$(basename "$0")"; printf ' %s' "$@"; echo; } >> "$CALLS"
case $* in
  *issuer*) echo "$ISSUER";;
  *get-caller-identity*) echo 777788889999;;
esac
"""


def ran(found: Rights, place: Path) -> list[str]:
    """Run the script with tools that only note how they are called; gives the calls."""
    for name in ("aws", "kubectl"):
        tool = place / name
        tool.write_text(TOOL, "utf-8")
        tool.chmod(0o755)
    calls = place / "calls"
    path = f"{place}:{os.environ['PATH']}"
    environ = {"PATH": path, "CALLS": str(calls), "ISSUER": ISSUER}
    text = script.text(found)
    subprocess.run(["/bin/sh", "-eu"], input=text.encode(), env=environ, cwd=place, check=True)
    return calls.read_text("utf-8").splitlines()


def test_the_commands_for_irsa(tmp_path: Path) -> None:
    """The shell fills in what only the cluster knows, and every file is what the commands name."""
    calls = ran(given(trust="irsa", account=None), tmp_path)
    arn = "arn:aws:iam::777788889999:role/cwgpu"
    assert calls == [
        "aws sts get-caller-identity --query Account --output text",
        "aws eks describe-cluster --name lab --query cluster.identity.oidc.issuer --output text",
        f"aws iam create-open-id-connect-provider --url {ISSUER} --client-id-list {AUDIENCE}",
        MAKE_ROLE,
        PUT_POLICY.format("cwgpu", "policy"),
        f"{PODS} annotate --overwrite serviceaccount cwgpu eks.amazonaws.com/role-arn={arn}",
        RESTART,
    ]
    provider = ISSUER.removeprefix("https://")
    (statement,) = json.loads((tmp_path / "cwgpu-trust.json").read_text("utf-8"))["Statement"]
    assert statement["Principal"] == {
        "Federated": f"arn:aws:iam::777788889999:oidc-provider/{provider}"
    }
    assert set(statement["Condition"]["StringEquals"]) == {f"{provider}:aud", f"{provider}:sub"}


def test_the_commands_for_pod_identity(tmp_path: Path) -> None:
    """The association takes the place of the annotation; an account that is given is not asked."""
    found = given(trust="pod-identity", name="a?b")
    arn = f"arn:aws:iam::{ACCOUNT}:role/cwgpu"
    assert ran(found, tmp_path) == [
        "aws eks create-addon --cluster-name lab --addon-name eks-pod-identity-agent",
        MAKE_ROLE,
        PUT_POLICY.format("cwgpu", "policy"),
        f"aws eks create-pod-identity-association --cluster-name lab {WHOSE} --role-arn {arn}",
        RESTART,
    ]
    for name, document in found.documents().items():
        assert json.loads((tmp_path / f"cwgpu-{name}.json").read_text("utf-8")) == document


def test_the_commands_for_a_role_that_is_taken_on(tmp_path: Path) -> None:
    """Each policy goes to its role; whom the other one must trust is told, not done."""
    found = given(role_arn=ROLE)
    assert ran(found, tmp_path) == [
        PUT_POLICY.format("logs", "policy"),
        PUT_POLICY.format("cwgpu", "assume"),
    ]
    last = script.text(found).splitlines()[-1]
    assert json.loads(last.removeprefix("# "))["Principal"] == {
        "AWS": f"arn:aws:iam::{ACCOUNT}:role/cwgpu"
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("trust", [None, "irsa", "pod-identity"])
def test_a_roles_arn_cannot_become_a_command(tmp_path: Path, end: str, trust: str | None) -> None:
    """It stands in comments, names and documents, and is one line or one word in all of them."""
    mark = tmp_path / "mark"
    evil = f"{ROLE}$(touch {mark}){end}touch {mark}{end}END{end}touch {mark} `touch {mark}` '\""
    found = given(role_arn=evil, trust=trust)
    (tmp_path / "there").mkdir()
    calls = ran(found, tmp_path / "there")
    assert not mark.exists()
    assert [call.split()[:3] for call in calls].count(["aws", "iam", "put-role-policy"]) == 2


def test_a_clusters_name_cannot_become_a_command() -> None:
    """It is quoted; where none is known there is one to replace."""
    plan = Plan((), Emf("GPU", (), cluster_name="a; rm -rf /"), CloudWatch("/gpu", "s"))
    text = script.text(rights.of(plan, LAB, account=None, trust="pod-identity"))
    assert shlex.quote("a; rm -rf /") in text
    plan = Plan((), Emf("GPU", ()), CloudWatch("/gpu", "s"))
    assert "CLUSTER=my-cluster\n" in script.text(
        rights.of(plan, LAB, account=None, trust="pod-identity")
    )


# --- As a process -----------------------------------------------------------------------------


def test_json_is_the_policy_and_nothing_else() -> None:
    """It can be given to `aws iam put-role-policy` as it is; what is vague is told on stderr."""
    done = program.run("iam", *SHIPPED, "-o", "json", env={"CLUSTER_NAME": "lab"})
    plan = load.load(program.ROOT / "config/cwagent.json", None, {"CLUSTER_NAME": "lab"}).plan
    assert json.loads(done.stdout) == rights.of(plan, {}, account=None, trust=None).policy
    assert done.code == exits.OK
    region, account = done.stderr.splitlines()
    assert region.endswith('write "region" under "agent", or set AWS_REGION')
    assert "`aws sts get-caller-identity --query Account --output text`" in account


def test_nothing_is_said_about_what_is_exact() -> None:
    """With region and account the answer stands alone; as text it is the same policy."""
    done = program.run("iam", *SHIPPED, "--account", ACCOUNT, env=LAB)
    assert (done.code, done.stderr) == (0, "")
    _, _, rest = done.stdout.partition("<<'END'\n")
    assert f":{ACCOUNT}:log-group:{GROUP}" in rest
    json.loads(rest.partition("\nEND\n")[0])


def test_json_of_all_documents() -> None:
    """With the way to the pods there are several, each under its name."""
    more = ("--trust", "irsa", "-o", "json")
    done = program.run("iam", *SHIPPED, *more, env=LAB)
    assert list(json.loads(done.stdout)) == ["policy", "trust"]
    everything = ("-c", "tests/data/config/everything.good.json")
    done = program.run("iam", *everything, *more)
    assert list(json.loads(done.stdout)) == ["policy", "trust", "assume"]
    assert done.stderr == ""


def test_json_of_one_of_two_policies() -> None:
    """What is left out is told."""
    everything = ("-c", "tests/data/config/everything.good.json")
    done = program.run("iam", *everything, "-o", "json")
    assert list(json.loads(done.stdout)) == ["Version", "Statement"]
    assert "the policy is that of arn:aws:iam::111122223333:role/logs" in done.stderr


def test_the_jobs_do_not_matter(tmp_path: Path) -> None:
    """Their file is in the cluster; that it is not here changes no right."""
    config = program.configuration(tmp_path / "cwagent.json", "a:9400")
    written = json.loads(config.read_text("utf-8"))
    del written["cwgpu"]
    config.write_text(json.dumps(written), "utf-8")
    done = program.run("iam", "-c", str(tmp_path), "-o", "json", env=LAB)
    assert done.code == exits.OK
    assert GROUP in done.stdout


def test_a_configuration_without_a_log_group() -> None:
    """Exit code 78, and what to set to have an exact answer."""
    done = program.run("iam", *SHIPPED)
    assert (done.code, done.stdout) == (exits.CONFIGURATION, "")
    assert "error[no-log-group]" in done.stderr
    assert "CLUSTER_NAME in the environment" in done.stderr


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    """Exit code 78, as for every other verb."""
    done = program.run("iam", "-c", str(tmp_path / "none.json"))
    assert done.code == exits.CONFIGURATION
    assert "error[file-not-readable]" in done.stderr


@pytest.mark.parametrize("account", ["1234", "11112222333x", "1111222233334"])
def test_an_account_that_is_none(account: str) -> None:
    """Exit code 2."""
    done = program.run("iam", *SHIPPED, "--account", account, env=LAB)
    assert (done.code, done.stdout) == (exits.USAGE, "")
    assert "write its twelve digits" in done.stderr


def test_nothing_of_aws_is_loaded() -> None:
    """Nobody is asked: neither boto3 nor an HTTP client is there."""
    env = {**LAB, "PYTHONPROFILEIMPORTTIME": "1"}
    done = program.run("iam", *SHIPPED, env=env)
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert modules.isdisjoint({"boto3", "botocore", "aiohttp", "kubernetes"})
