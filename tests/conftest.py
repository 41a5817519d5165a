"""Options of this test suite."""

import os

import pytest
from hypothesis import settings

pytest_plugins = ("tests.oracle.plugin",)

# A busy machine must not fail a test. CI tries the same examples every time, so that a change is
# judged by what it changes; everybody's own runs try new ones.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes expectations anew; what it changes is to be read in the diff."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expectations of tests/golden anew instead of comparing with them",
    )
