"""On what something was measured: figures of two machines, or of two versions, are two figures."""

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

_LIBRARIES = ("aiohttp", "orjson", "botocore", "prometheus-client")


def describe() -> dict[str, Any]:
    """Say what matters of the machine, of Python and of the libraries; the load as it is now."""
    names = (
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        if line.startswith("model name")
    )
    return {
        "cpu": next(names, platform.machine()),
        "cores": os.cpu_count(),
        "kernel": platform.release().partition("-")[0],
        "python": platform.python_version(),
        "load_average": [round(each, 2) for each in os.getloadavg()],
        "libraries": {name: metadata.version(name) for name in _LIBRARIES},
    }
