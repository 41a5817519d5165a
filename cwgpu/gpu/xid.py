"""Which XID errors mean that a GPU is of no use until somebody does something.

XIDs are what NVIDIA's driver calls its errors
(https://docs.nvidia.com/deploy/xid-errors/index.html). The list is the one by which the EKS node
monitoring agent gives up a node, ``monitors/nvidia/dcgm/dcgm_policies.go`` of
https://github.com/aws/eks-node-monitoring-agent: ECC errors that could not be corrected, a GPU that
fell off the bus, NVLink and firmware that do not answer. All other XIDs are left out: most are
faults of the program that ran (13, 31, 43, 45), or were contained (94).
"""

FIELD = "DCGM_FI_DEV_XID_ERRORS"
"""The last XID; 0 until the first. It stays until the next one, or until the exporter restarts."""

LABELS = ("err_code", "err_msg")
"""Labels of the field since exporter 3.3.6-3.4.2. They say in words what the value says, and change
with it."""

FATAL = frozenset(
    {
        *(46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110),
        *(119, 120, 136, 140, 142, 143, 151, 155, 156, 158),
    }
)


def is_fatal(value: float) -> bool:
    """Tell whether a value of the field is a fatal XID."""
    return value in FATAL
