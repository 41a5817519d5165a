"""Which rights a plan needs: the policies, and whom the role of the pods trusts.

IRSA: https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
EKS Pod Identity: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cwgpu.digest import stream
from cwgpu.logs import policy
from cwgpu.logs.policy import Document, Place
from cwgpu.plan.plan import CloudWatch, Plan

NAMESPACE = "amazon-cloudwatch"
SERVICE_ACCOUNT = "cwgpu"
ROLE = "cwgpu"
"""Where the manifests put the pods, whose they are, and what we call their role."""

ANY = "*"
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Where the SDK looks, in this order, when the configuration names no region."""

_ROLE_ARN = re.compile(r"arn:(aws[a-z-]*):iam::([0-9]{12}):role/.+")


@dataclass(frozen=True, slots=True)
class Rights:
    """Who may do what."""

    policy: Document
    """For the role that writes to CloudWatch Logs: ``role_arn``, or that of the pods."""
    role_arn: str | None
    assume: Document | None
    """For the pods' own role where there is a ``role_arn``."""
    trust: Document | None
    """Of the pods' own role; ``${ACCOUNT}`` and ``${PROVIDER}`` are to be filled in."""
    way: str | None
    """How the pods get their role: irsa or pod-identity; None if that was not asked."""
    cluster: str
    partition: str
    account: str | None
    """Of the pods' own role, where it is known."""
    asides: tuple[str, ...]
    """What would make it more exact."""

    def documents(self) -> dict[str, Document]:
        """Give all that there is."""
        found = {"policy": self.policy, "trust": self.trust, "assume": self.assume}
        return {name: each for name, each in found.items() if each is not None}


def of(plan: Plan, environ: Mapping[str, str], *, account: str | None, trust: str | None) -> Rights:
    """Tell what a plan needs. ``account`` is that of the pods' own role."""
    aws = plan.cloudwatch
    place = _place(aws, environ, account)
    known = {"ClusterName": plan.emf.cluster_name}
    key = stream.pattern(aws.log_group, aws.log_stream, known)
    retention = aws.retention_days is not None
    return Rights(
        policy=policy.sending(place, key, retention=retention),
        role_arn=aws.role_arn,
        assume=_assume(aws.role_arn, trust) if aws.role_arn else None,
        trust=_trust(trust, place.partition) if trust else None,
        way=trust,
        cluster=plan.emf.cluster_name,
        partition=place.partition,
        account=account,
        asides=tuple(_asides(place)),
    )


def _place(aws: CloudWatch, environ: Mapping[str, str], account: str | None) -> Place:
    """Tell where the log group is: in the account of the role that makes it."""
    named = (aws.region, *(environ.get(name) for name in _REGIONS))
    region = next((each for each in named if each), ANY)
    role = _ROLE_ARN.fullmatch(aws.role_arn or "")
    if region == ANY and role:
        return Place(role[1], region, role[2])
    return Place(policy.partition(region), region, role[2] if role else account or ANY)


def _asides(place: Place) -> Iterator[str]:
    if place.region == ANY:
        yield (
            'the policy holds in every region, because none is known: write "region" under '
            f'"agent", or set {_REGIONS[0]}'
        )
    if place.account == ANY:
        yield (
            "the policy holds in every account: to be exact give --account, the answer of "
            "`aws sts get-caller-identity --query Account --output text`"
        )


def _assume(role_arn: str, trust: str | None) -> Document:
    return policy.document(policy.allow("AssumeRole", assuming(trust), (role_arn,)))


def assuming(trust: str | None) -> tuple[str, ...]:
    """Name what it takes to assume a role; sessions of EKS Pod Identity hand their tags on."""
    return ("sts:AssumeRole", *(("sts:TagSession",) if trust == "pod-identity" else ()))


def _trust(way: str, partition: str) -> Document:
    if way == "irsa":
        provider = "${PROVIDER}"
        subject = f"system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}"
        return policy.document(
            {
                "Sid": "ServiceAccount",
                "Effect": "Allow",
                "Principal": {
                    "Federated": f"arn:{partition}:iam::${{ACCOUNT}}:oidc-provider/{provider}"
                },
                "Action": ["sts:AssumeRoleWithWebIdentity"],
                "Condition": {
                    "StringEquals": {
                        f"{provider}:aud": "sts.amazonaws.com",
                        f"{provider}:sub": subject,
                    }
                },
            }
        )
    return policy.document(
        {
            "Sid": "ServiceAccount",
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:RequestTag/kubernetes-namespace": NAMESPACE,
                    "aws:RequestTag/kubernetes-service-account": SERVICE_ACCOUNT,
                }
            },
        }
    )
