"""The commands that give the rights: a script for a shell, which reads well too."""

import json
import re
import shlex
from collections.abc import Iterator

from cwgpu.cli.iam.rights import NAMESPACE, ROLE, SERVICE_ACCOUNT, Rights, assuming
from cwgpu.logs.policy import Document
from cwgpu.telemetry import escape

_AUDIENCE = "sts.amazonaws.com"
_PODS = f"kubectl -n {NAMESPACE}"
_LABEL = "app.kubernetes.io/name=cwgpu"
_OPTIONAL = (
    "# MakeGroups may be left out where the group is there already. Without SeeLogClass nobody\n"
    "# tells you that a group is of the class Infrequent Access, which makes no metrics."
)
_LIST_OF_ONE = re.compile(r'\[\s+("(?:[^"\\\n]|\\.)*")\s+\]')
_CLUSTER = "my-cluster"
"""Where the configuration does not tell the cluster's name."""


def pretty(value: object) -> str:
    """Write JSON for people, who need no three lines for a list of one."""
    return _LIST_OF_ONE.sub(r"[\1]", json.dumps(value, indent=2, ensure_ascii=False))


def text(rights: Rights) -> str:
    """Write the commands: with a way to the pods all of them, else those about the policy."""
    parts = [*_begin(rights), *_policies(rights), *_end(rights)]
    return "\n\n".join(parts)


def _begin(rights: Rights) -> Iterator[str]:
    if rights.trust is None:
        return
    irsa = rights.way == "irsa"
    asked = "$(aws sts get-caller-identity --query Account --output text)"
    lines = [
        "# The cluster by its name at EKS, and the account of its pods' role.",
        f"CLUSTER={shlex.quote(rights.cluster or _CLUSTER)}",
        f"ACCOUNT={rights.account or asked}",
    ]
    if irsa:
        query = "--query cluster.identity.oidc.issuer --output text"
        lines.append(f'ISSUER=$(aws eks describe-cluster --name "$CLUSTER" {query})')
        lines.append("PROVIDER=${ISSUER#https://}")
    yield "\n".join(lines)
    yield _provider() if irsa else _agent()
    about = f"# Who may take on the role {ROLE}: the service account of the pods."
    # What is to be filled in the shell fills in.
    file = _file("trust", rights.trust, filled=irsa)
    document = "--assume-role-policy-document file://cwgpu-trust.json"
    yield "\n".join([about, file, f"aws iam create-role --role-name {ROLE} {document}"])


def _provider() -> str:
    return (
        "# Once for each cluster; it may be there already.\n"
        f'aws iam create-open-id-connect-provider --url "$ISSUER" --client-id-list {_AUDIENCE}'
    )


def _agent() -> str:
    return (
        "# Once for each cluster; it may be there already.\n"
        'aws eks create-addon --cluster-name "$CLUSTER" --addon-name eks-pod-identity-agent'
    )


def _policies(rights: Rights) -> Iterator[str]:
    role_arn = rights.role_arn
    if role_arn is None or rights.assume is None:
        about = f"# What the role {ROLE} may do.\n{_OPTIONAL}"
        yield "\n".join([about, _file("policy", rights.policy), _attach(ROLE, "policy")])
        return
    name = shlex.quote(role_arn.rpartition("/")[2])
    shown = escape.line(role_arn)  # or the rest of it would be no comment
    about = f"# What {shown} may do; to be run in its account.\n{_OPTIONAL}"
    yield "\n".join([about, _file("policy", rights.policy), _attach(name, "policy")])
    about = f"# What the pods' own role {ROLE} may do: take on that one."
    yield "\n".join([about, _file("assume", rights.assume), _attach(ROLE, "assume")])
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": _arn(rights)},
        "Action": list(assuming(rights.way)),
    }
    yield f"# To the trust policy of {shown} add:\n# {json.dumps(statement)}"


def _arn(rights: Rights) -> str:
    return f"arn:{rights.partition}:iam::{rights.account or 'ACCOUNT'}:role/{ROLE}"


def _attach(role: str, file: str) -> str:
    return (
        f"aws iam put-role-policy --role-name {role} --policy-name cwgpu "
        f"--policy-document file://cwgpu-{file}.json"
    )


def _file(name: str, content: Document, *, filled: bool = False) -> str:
    mark = "END" if filled else "'END'"
    return f"cat > cwgpu-{name}.json <<{mark}\n{pretty(content)}\nEND"


def _end(rights: Rights) -> Iterator[str]:
    if rights.way is None:
        return
    arn = f'"arn:{rights.partition}:iam::${{ACCOUNT}}:role/{ROLE}"'
    if rights.way == "irsa":
        gives = (
            f"{_PODS} annotate --overwrite serviceaccount {SERVICE_ACCOUNT} "
            f"eks.amazonaws.com/role-arn={arn}"
        )
    else:
        gives = (
            'aws eks create-pod-identity-association --cluster-name "$CLUSTER" '
            f"--namespace {NAMESPACE} --service-account {SERVICE_ACCOUNT} --role-arn {arn}"
        )
    yield "\n".join(
        [
            "# Pods get the role when they start.",
            gives,
            f"{_PODS} rollout restart deployment,daemonset,statefulset -l {_LABEL}",
        ]
    )
