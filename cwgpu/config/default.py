"""The default configuration that comes with the program."""

from pathlib import Path

_NAME = "cwagent.json"


def path() -> Path:
    """Give its file: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).parent.parent
    installed = package / _NAME
    return installed if installed.exists() else package.parent / "config" / _NAME
