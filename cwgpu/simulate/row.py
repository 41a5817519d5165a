"""One row of the exporter's page: a GPU, or an instance of a GPU in MIG mode."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cwgpu.simulate.load import Load


@dataclass(frozen=True, slots=True)
class Pod:
    """Who uses the GPU."""

    namespace: str
    name: str
    container: str


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU itself. All instances of a GPU in MIG mode have one."""

    labels: Mapping[str, str]
    """Its labels in the exporter's order, ``modelName`` the last."""
    load: Load
    spent_mj: int = 0
    """Energy that it had used before the simulation began."""
    replay_every_s: float = float("inf")
    """Seconds from one repeated PCIe transfer to the next."""
    xid_at_s: float = float("inf")
    """When it reports an XID error, for good."""


@dataclass(frozen=True, slots=True)
class Row:
    """What its user has of a device."""

    device: Device
    load: Load
    memory_mib: int
    reserved_mib: int
    used_mib: int
    """Memory in use without load; under load it is a little more."""
    pod: Pod | None = None
    linked: bool = False
    """Whether its pod has other GPUs to talk to."""
    instance: Mapping[str, str] = field(default_factory=dict)
    """``GPU_I_PROFILE`` and ``GPU_I_ID`` in MIG mode."""
    node: Mapping[str, str] = field(default_factory=dict)
    """``Hostname`` and the fields that the exporter prints as labels."""

    @property
    def is_instance(self) -> bool:
        """Whether it is one of several instances of its device."""
        return bool(self.instance)

    def labels(self, attributes: Mapping[str, str]) -> str:
        """Give the text between the braces: fixed labels as they come, attributes sorted."""
        if self.pod:
            attributes = {
                **attributes,
                "container": self.pod.container,
                "namespace": self.pod.namespace,
                "pod": self.pod.name,
            }
        fixed = {**self.device.labels, **self.instance, **self.node}
        every = {**fixed, **dict(sorted(attributes.items()))}
        return ",".join(f'{name}="{value}"' for name, value in every.items())
