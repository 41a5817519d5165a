"""The pages of the fleet: as those of real DCGM exporters, with every value known beforehand.

Field names, types and magnitudes are those of ``tests/data/samples``; so are the labels, and how
pods are spread over GPUs: of eight, four have one pod, two have one each, and two have none. The
values of scrape number k are the same for all targets, so that making them costs next to nothing.
"""

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SAMPLES = Path(__file__).parents[2] / "data/samples"
_PAGES = ("02-h100x8-pods-4.8.1.prom", "12-h100x8-60-fields-4.8.2.prom")
"""The exporter's default fields come first, and then what a long list of fields adds."""

# Rates that the exporter types as counters: docs/gpu.md says which, and why they are sent as they
# are. All fields of the samples that are typed so are meant here, and no others.
_RATE = re.compile("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL|DCGM_FI_PROF_.*_BYTES")

# A field that changed its name in DCGM 4.6 is sent under the one it had before (docs/gpu.md).
_FORMER = {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"}

SERVICE, NAMESPACE, JOB, CLUSTER = "dcgm-exporter", "gpu-operator", "dcgm-exporter", "fleet"


@dataclass(frozen=True, slots=True)
class Field:
    """One metric of a page."""

    name: str
    text: str
    type: str
    base: str
    """A value of a real page, whose form and magnitude ours have."""

    @property
    def metric(self) -> str:
        """The name under which it is sent."""
        return _FORMER.get(self.name, self.name)

    @property
    def counts(self) -> bool:
        """Whether differences are sent in place of the values."""
        return self.type == "counter" and not _RATE.fullmatch(self.name)


@functools.cache
def fields(count: int) -> tuple[Field, ...]:
    """Give so many fields; where the samples have no more, they are made up."""
    known: dict[str, Field] = {}
    for page in _PAGES:
        texts, types = {}, {}
        for line in (_SAMPLES / page).read_text("utf-8").splitlines():
            words = line.split(" ", 3)
            if line.startswith("# HELP"):
                texts[words[2]] = words[3]
            elif line.startswith("# TYPE"):
                types[words[2]] = words[3]
            else:
                name = line.partition("{")[0]
                base = line.rpartition(" ")[2]
                known.setdefault(name, Field(name, texts[name], types[name], base))
    made = (
        Field(f"DCGM_FI_FLEET_{number:04}", "Made up.", "gauge", "0.500000")
        for number in range(count - len(known))
    )
    return (*list(known.values())[:count], *made)


def values(chosen: Sequence[Field], gpus: int, scrape: int) -> list[bytes]:
    """Give the values of a page at a scrape, which is counted from 0. Each differs at the next."""
    return [
        _value(field, field_at * gpus + gpu, scrape)
        for field_at, field in enumerate(chosen)
        for gpu in range(gpus)
    ]


def _value(field: Field, position: int, scrape: int) -> bytes:
    if "." in field.base:
        share = (scrape * 37_813 + position * 7_919) % 99_991 / 99_991  # primes: no pattern to zip
        return b"%.6f" % (float(field.base) * (1 + share) / 2)
    base = int(field.base)
    if field.counts:
        return b"%d" % (base + scrape * (1_000 + position) + scrape * scrape)
    span = max(11, base // 10)
    moved = (scrape * 7 + position * 3) % span
    return b"%d" % (base - moved if base >= span else moved)


def node(target: int) -> str:
    """Give the name of a target's node."""
    return f"ip-10-{target >> 16 & 255}-{target >> 8 & 255}-{target & 255}.compute.internal"


def pod(target: int, gpu: int) -> Mapping[str, str]:
    """Give the labels of the pod that has a GPU; none, if no pod has it."""
    share, of_eight = divmod(gpu, 8)
    if of_eight < 4:
        name = f"llama-ft-{target:05}-worker-{share}"
        return {"container": "trainer", "namespace": "ml-team", "pod": name}
    if of_eight < 6:
        name = f"triton-7b8d5c9f-{target:05}-{gpu}"
        return {"container": "triton", "namespace": "serving", "pod": name}
    return {}


def labels(target: int, gpu: int) -> Mapping[str, str]:
    """Give all labels of a GPU, as they stand on the page."""
    digits = hashlib.blake2b(b"%d %d" % (target, gpu), digest_size=16).hexdigest()
    return {
        "gpu": str(gpu),
        "UUID": "GPU-" + "-".join(re.findall("(.{8})(.{4})(.{4})(.{4})(.{12})", digits)[0]),
        "pci_bus_id": f"00000000:{0x53 + 0x11 * (gpu % 8):02X}:{gpu // 8:02X}.0",
        "device": f"nvidia{gpu}",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": node(target),
        "DCGM_FI_DRIVER_VERSION": "535.183.01",
        **pod(target, gpu),
    }


def heads(chosen: Sequence[Field], gpus: int, target: int) -> list[bytes]:
    """Give what stands before each value of a target's page: the page but for its values."""
    series = [
        ",".join(f"{name}={json.dumps(value)}" for name, value in labels(target, gpu).items())
        for gpu in range(gpus)
    ]
    found = []
    for field in chosen:
        comments = f"# HELP {field.name} {field.text}\n# TYPE {field.name} {field.type}\n"
        for text in series:
            found.append(f"\n{comments}{field.name}{{{text}}} ".encode())
            comments = ""
    found[0] = found[0][1:]
    return found
