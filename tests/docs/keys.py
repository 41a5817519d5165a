"""The tables of docs/configuration.md, made of the models that read the configuration.

``make docs`` writes them between their markers; test_configuration compares.
"""

import re
import sys
from collections.abc import Iterator

from cwgpu.config import shape
from cwgpu.config.agent import AgentFile
from cwgpu.config.client import Client
from cwgpu.config.prometheus import PrometheusFile
from cwgpu.config.shape import Model, Use
from tests.docs import pages

PAGE = "docs/configuration.md"
ROOTS: tuple[type[Model], ...] = (AgentFile, PrometheusFile)
SHARED: tuple[type[Model], ...] = (Client,)
"""Models whose keys stand inline in others: they have a table, and are left out of the others'."""
_BLOCK = re.compile(r"(?s)(<!-- keys of (\w+) -->\n).*?(<!-- end -->)")


def models() -> dict[str, type[Model]]:
    """Give the models whose keys somebody acts on, by their names."""
    found: dict[str, type[Model]] = {root.__name__: root for root in (*ROOTS, *SHARED)}
    for root in ROOTS:
        idle = [key.loc for key in shape.keys(root) if key.use]
        for key in shape.keys(root):
            if key.model and not any(key.loc[: len(loc)] == loc for loc in idle):
                found[key.model.__name__] = key.model
    return found


def rendered(page: str) -> str:
    """Give the page with every block between its markers made anew."""
    known = models()
    return _BLOCK.sub(lambda block: f"{block[1]}{_table(known[block[2]])}{block[3]}", page)


def blocks(page: str) -> list[str]:
    """Name the models that have a block on the page."""
    return [block[2] for block in _BLOCK.finditer(page)]


def _table(model: type[Model]) -> str:
    lines = ["", "| key | meaning |", "| --- | --- |"]
    lines += [f"| `{name}` | {text} |" for name, text in _marked(model, None)]
    idle = [f"`{name}` ({text.rstrip('.')})" for name, text in _marked(model, Use.ELSEWHERE)]
    if idle:
        lines += ["", f"Known, and {Use.ELSEWHERE.value}: {', '.join(idle)}."]
    return "\n".join([*lines, "", ""])


def _marked(model: type[Model], mark: Use | None) -> Iterator[tuple[str, str]]:
    shared = {
        name
        for each in SHARED
        if each is not model and issubclass(model, each)
        for name in shape.names(each)
    }
    for name, field in shape.names(model).items():
        if shape.use(field) is mark and name not in shared:
            yield name, (field.description or "").replace("|", "\\|")


def main() -> None:
    """Write the page's blocks anew."""
    place = pages.ROOT / PAGE
    before = place.read_text("utf-8")
    after = rendered(before)
    place.write_text(after, "utf-8")
    sys.stdout.write(f"{PAGE}: {'as it was' if after == before else 'written'}\n")


if __name__ == "__main__":
    main()
