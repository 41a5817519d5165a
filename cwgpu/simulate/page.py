"""The page of a simulated exporter, in the text format 0.0.4 as dcgm-exporter 4.8.1 writes it.

https://github.com/NVIDIA/dcgm-exporter/tree/main/internal/pkg/rendermetrics: one block per field,
whole numbers and floats of six decimals, fixed labels before sorted attributes.
"""

from collections.abc import Iterator

from cwgpu.simulate import field, roster
from cwgpu.simulate.field import Field
from cwgpu.simulate.row import Row


class Fleet:
    """Nodes with GPUs, each with one exporter."""

    def __init__(self, nodes: int, gpus: int) -> None:
        """``gpus`` are those of each node; there is at least one of both."""
        if nodes < 1 or gpus < 1:
            raise ValueError(f"a fleet of {nodes} nodes with {gpus} GPUs has none")
        self._nodes = tuple(tuple(roster.rows(node, nodes, gpus)) for node in range(nodes))

    @property
    def nodes(self) -> int:
        """How many nodes, and so pages, there are; they count from 0."""
        return len(self._nodes)

    def page(self, node: int, at_s: float) -> bytes:
        """Give a node's page, so many seconds (0 or more) after the simulation began."""
        rows = self._nodes[node]
        return "".join(line for one in field.FIELDS for line in _family(one, rows, at_s)).encode()


def _family(family: Field, rows: tuple[Row, ...], at_s: float) -> Iterator[str]:
    shown = [row for row in rows if family.in_mig or not row.is_instance]
    if not shown:
        return
    yield f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.type}\n"
    for row in shown:
        labels = row.labels(_attributes(family, row, at_s))
        yield f"{family.name}{{{labels}}} {_text(family.read(row, at_s))}\n"


def _attributes(family: Field, row: Row, at_s: float) -> dict[str, str]:
    if family.name != field.XID_ERRORS:
        return {}
    if field.is_xid(row, at_s):
        return {"err_code": str(field.XID), "err_msg": field.XID_WORDS}
    return {"err_code": "0", "err_msg": "No Error"}


def _text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:f}"
