"""The Dockerfile, as far as it can be read; .ci/image.py runs its statements."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def _statements(keyword: str) -> list[str]:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    return [line.removeprefix(keyword).strip() for line in lines if line.startswith(keyword + " ")]


def test_builder_sees_what_is_copied_and_nothing_else() -> None:
    """The exceptions of .dockerignore are the sources of the first stage's COPY statements."""
    copies = [rest for rest in _statements("COPY") if not rest.startswith("--from")]
    sources = {source for rest in copies for source in rest.split()[:-1]}
    ignore = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {line.removeprefix("!") for line in ignore if line.startswith("!")} == sources
    assert "*" in ignore


def test_image_installs_by_hash() -> None:
    """Whatever comes from an index is in a lock, and checked against it."""
    commands = [part for rest in _statements("RUN") for part in rest.split(" && ")]
    installs = [command for command in commands if "pip install" in command]
    assert len(installs) == 3
    for command in installs:
        assert "--require-hashes -r requirements/" in command or "--no-index" in command


def test_image_runs_the_agent_as_nobody() -> None:
    """The image runs `cwgpu run`, unprivileged, and knows that it is an image."""
    assert _statements("ENTRYPOINT") == ['["cwgpu"]']
    assert _statements("CMD") == ['["run"]']
    assert _statements("USER") == ["65532:65532"]
    assert "RUN_IN_CONTAINER=True" in _statements("ENV")[0].split()


def test_both_stages_have_the_same_python() -> None:
    """The environment that the first stage makes fits the interpreter of the second."""
    first, second = _statements("FROM")
    assert first == f"{second} AS build"


def test_image_holds_what_is_imported_compiled() -> None:
    """Whoever runs the image may not write bytecode, so its builder does, as root."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    compiles = _statements("RUN")[-1]
    assert text.index(compiles) < text.index("\nUSER ")
    modules = re.findall(r"cwgpu(?:\.\w+)+", compiles)
    assert {"cwgpu.cli.main", "cwgpu.cli.start", "cwgpu.sinks.session"} <= set(modules)
    for module in modules:
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()
