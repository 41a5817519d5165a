"""Configuration files that load, and files with one fault each.

``python -m tests.config.corpus`` writes down anew what is said about each of them; read the
difference before you commit it.
"""

from pathlib import Path

from cwgpu.config import complaint, document, load
from cwgpu.config.complaint import Complaint
from cwgpu.config.document import Form
from cwgpu.config.where import Found

FOLDER = Path(__file__).parents[1] / "data/config"
FILES = sorted(each for each in FOLDER.iterdir() if each.suffix in (".json", ".yaml"))
GOOD = [each for each in FILES if ".good." in each.name]
BAD = [each for each in FILES if ".bad." in each.name]


def complaints(path: Path) -> tuple[Complaint, ...]:
    """Read one of the files, as if it stood alone, and give what is said about it."""
    form = Form.JSON if path.suffix == ".json" else Form.YAML
    read = document.read(path.read_bytes(), path.name, form)
    found = Found(read.root, read.complaints, Path("/etc/cwgpu"))
    if form is Form.JSON:
        return load.translated(found, None, {}).complaints
    _, said = load.prometheus_file(found)
    return complaint.ordered(said)


def expectation(path: Path) -> Path:
    """Name the file that holds what is said about a bad one."""
    return path.with_name(f"{path.name}.txt")


def main() -> None:
    """Write every expectation anew."""
    for path in BAD:
        expectation(path).write_text(complaint.render_all(complaints(path)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
