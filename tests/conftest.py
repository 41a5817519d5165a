"""Options of this test suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes expectations anew; what it changes is to be read in the diff."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expectations of tests/golden anew instead of comparing with them",
    )
