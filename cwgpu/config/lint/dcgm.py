"""What the exporter's pages and pods look like, as far as rules need to know.

https://github.com/NVIDIA/dcgm-exporter: ``internal/pkg/rendermetrics`` and ``transformation`` for
labels, ``internal/pkg/server`` for paths, ``etc/*.csv`` for fields.
"""

import re

from cwgpu.config.lint.subject import Declared, Job
from cwgpu.gpu import normalise
from cwgpu.gpu.names import OLD_NAMES
from cwgpu.prom.relabel import Action


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTAINERS = ("nvidia-dcgm-exporter", "dcgm-exporter", "exporter")
"""Of the GPU Operator; of the EKS add-on and plain manifests; of NVIDIA's Helm chart."""
PATH = "/metrics"
PORT = 9400

WORKLOAD = ("pod", "namespace", "container")
"""Labels of the page that say who uses a GPU; absent while nobody does."""

LABELS = _words(
    "gpu UUID pci_bus_id device modelName GPU_I_PROFILE GPU_I_ID Hostname pod_uid vgpu hpc_job "
    "err_code err_msg nvswitch nvlink cpu cpucore cpu_serial xid window_size_in_ms clock_event "
    "health_watch health_error_code peer_gpu link_status dra_claim_name dra_claim_namespace "
    "dra_driver_name dra_pool_name dra_device_name dra_mig_profile dra_mig_device_uuid"
) | frozenset(WORKLOAD)
"""Of the page, under their usual names."""
_BEGINNINGS = ("DCGM_", "pod_label_")
"""Of fields that the CSV file makes labels, and of a pod's labels that would collide."""

# What the exporter prints by default and DCGM 4.6 did not rename, and what people add most.
_KEPT = _words(
    "DCGM_FI_DEV_SM_CLOCK DCGM_FI_DEV_MEM_CLOCK DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION "
    "DCGM_FI_DEV_MEM_COPY_UTIL DCGM_FI_DEV_ENC_UTIL DCGM_FI_DEV_DEC_UTIL DCGM_FI_DEV_FB_FREE "
    "DCGM_FI_DEV_FB_USED DCGM_FI_DEV_FB_RESERVED DCGM_FI_DEV_FB_TOTAL "
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS DCGM_FI_PROF_PCIE_TX_BYTES DCGM_FI_PROF_PCIE_RX_BYTES "
    "DCGM_FI_PROF_NVLINK_TX_BYTES DCGM_FI_PROF_NVLINK_RX_BYTES"
)
FIELDS = frozenset(OLD_NAMES.values()) | _KEPT
"""Metric names of the exporter, in their older form; not all of them, but the usual ones."""

_WORD = "dcgm"
_PORT = re.compile(rf"(?<!\d){PORT}(?!\d)")


def usual_name(name: str) -> str:
    """Give the name that a label of the page gets here, unless ``cwgpu.dcgm.labels`` is off."""
    return normalise.labels(((name, "x"),))[0][0]


def has_label(name: str, *, usual: bool) -> bool:
    """Tell whether the page may have the label; ``usual``: names were made uniform.

    What the exporter copies from pods' own labels is left aside.
    """
    is_usual = usual_name(name) == name
    known = name in LABELS or name.startswith(_BEGINNINGS)
    return (known and is_usual) if usual else (known or not is_usual)


def is_declared(declared: Declared) -> bool:
    """Tell whether a declaration is about nothing but DCGM's metrics."""
    texts = declared.written.metric_selectors
    return bool(texts) and all("DCGM_" in text for text in texts or ())


def is_job(job: Job) -> bool:
    """Tell whether a job is meant for the exporter, going by names and port."""
    written = job.written
    kept = [step.written.regex for step in job.steps if step.rule.action is Action.KEEP]
    targets = [target for group in written.static_configs for target in group.targets]
    made = [step.written.replacement for step in job.steps]
    named = any(_WORD in text.lower() for text in (written.job_name, *kept, *targets))
    return named or any(map(_PORT.search, (*kept, *targets, *made)))
