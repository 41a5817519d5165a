"""Which kind of configuration a file holds, told by the keys in it, right or wrong."""

import enum
import re
from pathlib import PurePath

_IN_BLOCK = re.compile(r"""(?m)^["']?([A-Za-z_]\w*)["']?[ \t]*:""")
"""A key of YAML that is indented by nothing."""
_IN_FLOW = re.compile(r'"(\w+)"\s*:')
"""A key of JSON; there indentation says nothing."""

_MANIFEST = {"apiVersion", "kind"}
_JOBS = {"scrape_configs", "scrape_config_files", "global", "rule_files", "alerting"}
_AGENT = {"agent", "logs", "metrics", "traces", "cwgpu"}


class Content(enum.Enum):
    """The kinds, in the words of ``cwgpu check --kind``."""

    AGENT = "agent"
    PROMETHEUS = "prometheus"
    MANIFEST = "manifest"


def tell(data: bytes, name: str) -> Content:
    """Tell the kind of a file; its name decides where its content does not."""
    text = data.decode("utf-8-sig", errors="replace")
    is_flow = text.lstrip().startswith("{")
    keys = set((_IN_FLOW if is_flow else _IN_BLOCK).findall(text))
    if keys >= _MANIFEST:
        return Content.MANIFEST
    if keys & _AGENT:
        return Content.AGENT
    if keys & _JOBS:
        return Content.PROMETHEUS
    is_json = is_flow or PurePath(name).suffix == ".json"
    return Content.AGENT if is_json else Content.PROMETHEUS
