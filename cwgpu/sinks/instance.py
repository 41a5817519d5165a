"""The EC2 instance that we run on, and the cluster that its tags say it belongs to.

EKS tags the instances of its node groups ``eks:cluster-name``; ``kubernetes.io/cluster/NAME`` with
the value ``owned`` is the older way, and that of others who make clusters on EC2.
https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-categories.html

The instance's own metadata cannot tell these tags: with them allowed there, no tag may hold a
slash. So the metadata service says which instance this is, and the EC2 API which tags it has.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from cwgpu.sinks import told
from cwgpu.sinks.told import LIMIT_S, Told

_METADATA_OFF, _METADATA_AT = "AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT"

_EKS = "eks:cluster-name"
_PREFIX, _OWNED = "kubernetes.io/cluster/", "owned"
# Where the kernel tells whose machine it is: a Nitro instance, and before those Xen.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/identify_ec2_instances.html
_VENDOR, _AMAZON = "sys/class/dmi/id/sys_vendor", "Amazon EC2"
_XEN, _XEN_AMAZON = "sys/hypervisor/uuid", "ec2"


def cluster_name(environ: Mapping[str, str], limit_s: float = LIMIT_S) -> Told:
    """Ask, and give up after this time."""
    if not is_instance(environ):
        return Told()
    return told.within(limit_s, "the tags of the instance, if this is one of EC2,", _ask)


def is_instance(environ: Mapping[str, str], root: Path = Path("/")) -> bool:
    """Tell whether this may be an instance of EC2; where the kernel says nothing, it may."""
    if environ.get(_METADATA_OFF, "").lower() == "true":
        return False
    if environ.get(_METADATA_AT):
        return True
    vendor, xen = _text(root / _VENDOR), _text(root / _XEN)
    if not vendor and not xen:
        return True
    return vendor == _AMAZON or xen.lower().startswith(_XEN_AMAZON)


def named(tags: Mapping[str, str]) -> str:
    """Give the cluster that tags name; an instance of two clusters is of neither."""
    owned = [
        key.removeprefix(_PREFIX)
        for key, value in tags.items()
        if key.startswith(_PREFIX) and value == _OWNED
    ]
    return tags.get(_EKS) or (owned[0] if len(owned) == 1 else "")


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text("ascii", errors="replace").strip()
    return ""


def _ask() -> Told:
    from cwgpu.sinks import tags  # noqa: PLC0415 - botocore takes half a second

    try:
        return Told(named(tags.read()))
    except Exception as error:  # noqa: BLE001 - credentials come from anywhere
        return Told(fault=tags.fault(error))
