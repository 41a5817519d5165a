"""Which pods run on which GPUs of the simulated cluster.

The first half of a node's GPUs belongs to one training pod, each other GPU to a pod of its own.
Three GPUs of the cluster are special: the first will report an XID error, the last is idle, and the
one before it is in MIG mode. Clusters of one or two GPUs do without MIG, one GPU is never idle.
"""

import hashlib
from collections.abc import Iterator, Mapping

from cwgpu.simulate.load import IDLE, Bursts, Load, Shares, Steady
from cwgpu.simulate.row import Device, Pod, Row

XID_AT_S = 8.0
"""Early enough for a demo of 30 seconds, and for there to be pages before it."""

_MODEL = "NVIDIA H100 80GB HBM3"
_DRIVER = "535.183.01"
# What such a card has and what the driver keeps of it, in MiB; then the same for half of it in MIG
# mode. https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ lists the profiles.
_MEMORY_MIB, _RESERVED_MIB = 81559, 547
_HALF_MIB, _HALF_RESERVED_MIB = 40448, 64
_IDLE_MIB = 4
# An H100 in MIG mode has 7 compute slices: profile, instance id, share, memory used, load, pod.
_INSTANCES = (
    ("4g.40gb", "1", 4 / 7, 31_200, Steady(0.55, 0.1, 15.0), "jupyter-ana"),
    ("3g.40gb", "2", 3 / 7, 12_870, Bursts(0.8, 5.0), "jupyter-bo"),
)
# Namespace, container and Deployment of the pods that have one GPU.
_SINGLES = (
    ("serving", "triton", "triton"),
    ("research", "notebook", "sweep"),
    ("media", "transcoder", "captions"),
)
# Kubernetes leaves out vowels and look-alikes in what it makes up.
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
# What eight days at 600 W come to.
_SPENT_MJ = 412_077_301_933


def rows(node: int, nodes: int, gpus: int) -> Iterator[Row]:
    """Give the rows of a node's page, in their order."""
    total = nodes * gpus
    # Numbers of the special GPUs, counted from the node's own first; elsewhere they are not in it.
    idle = total - 1 - node * gpus if total > 1 else gpus
    mig = idle - 1 if total > 2 else gpus  # noqa: PLR2004 - as the module says
    working = [gpu for gpu in range(gpus) if gpu not in {idle, mig}]
    trainers = working[: (len(working) + 1) // 2]
    for gpu in range(gpus):
        if gpu == mig:
            yield from _instances(node, gpu)
        elif gpu == idle:
            yield _whole(node, gpu, IDLE, used_mib=_IDLE_MIB)
        elif gpu in trainers:
            yield _trainer(node, gpu, linked=len(trainers) > 1)
        else:
            yield _single(node, gpu)


def _trainer(node: int, gpu: int, *, linked: bool) -> Row:
    load = Steady(0.92, 0.06, 12.0, phase_s=1.5 * gpu + 4.0 * node)
    pod = Pod("ml-team", f"llama-ft-worker-{node}", "trainer")
    return _whole(node, gpu, load, used_mib=70_300 + 37 * gpu, pod=pod, linked=linked)


def _single(node: int, gpu: int) -> Row:
    namespace, container, name = _SINGLES[gpu % len(_SINGLES)]
    made_up = f"{name}-{_letters(name, 9)}-{_letters(f'{name}/{node}/{gpu}', 5)}"
    load = Bursts(0.97, phase_s=7.0 * gpu + 11.0 * node)
    return _whole(node, gpu, load, used_mib=22_500, pod=Pod(namespace, made_up, container))


def _whole(
    node: int,
    gpu: int,
    load: Load,
    *,
    used_mib: int,
    pod: Pod | None = None,
    linked: bool = False,
) -> Row:
    return Row(
        _device(node, gpu, load),
        load,
        memory_mib=_MEMORY_MIB,
        reserved_mib=_RESERVED_MIB,
        used_mib=used_mib,
        pod=pod,
        linked=linked,
        node=_node(node),
    )


def _instances(node: int, gpu: int) -> Iterator[Row]:
    device = _device(node, gpu, Shares(tuple((part[2], part[4]) for part in _INSTANCES)))
    for profile, number, _, used_mib, load, pod in _INSTANCES:
        yield Row(
            device,
            load,
            memory_mib=_HALF_MIB,
            reserved_mib=_HALF_RESERVED_MIB,
            used_mib=used_mib,
            pod=Pod("analysis", pod, "notebook"),
            instance={"GPU_I_PROFILE": profile, "GPU_I_ID": number},
            node=_node(node),
        )


def _device(node: int, gpu: int, load: Load) -> Device:
    number = _hash(f"gpu {node}/{gpu}")
    uuid = "-".join(number[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    labels = {
        "gpu": str(gpu),
        "UUID": f"GPU-{uuid}",
        "pci_bus_id": f"00000000:{(0x53 + 0x11 * gpu) % 0x100:02X}:00.0",
        "device": f"nvidia{gpu}",
        "modelName": _MODEL,
    }
    first = node == gpu == 0
    return Device(
        labels,
        load,
        spent_mj=_SPENT_MJ + 1_000_000_000 * gpu,
        replay_every_s=45.0 if gpu == 0 else float("inf"),
        xid_at_s=XID_AT_S if first else float("inf"),
    )


def _node(node: int) -> Mapping[str, str]:
    high, low = divmod(node, 250)
    return {
        "Hostname": f"ip-10-0-{41 + high}-{low + 1}.us-west-2.compute.internal",
        "DCGM_FI_DRIVER_VERSION": _DRIVER,
    }


def _letters(seed: str, count: int) -> str:
    return "".join(_SUFFIX[byte % len(_SUFFIX)] for byte in bytes.fromhex(_hash(seed))[:count])


def _hash(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()
