"""docs/configuration.md against the models that read the configuration."""

from cwgpu.config import shape
from tests.docs import keys, pages


def test_every_key_has_a_sentence() -> None:
    """Every key of every model says what it means."""
    silent = [
        key.loc for root in keys.ROOTS for key in shape.keys(root) if not key.field.description
    ]
    assert silent == []


def test_every_model_has_its_table() -> None:
    """Each object whose keys are acted on has its table on the page, once."""
    assert sorted(keys.blocks(pages.text(keys.PAGE))) == sorted(keys.models())


def test_tables_say_what_the_models_say() -> None:
    """The tables are those that `make docs` writes."""
    page = pages.text(keys.PAGE)
    assert page == keys.rendered(page)
