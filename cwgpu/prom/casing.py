"""Upper and lower case, one character for one, as Go's ``strings.ToUpper`` and ``ToLower`` map.

Python's own methods follow the full mapping of Unicode: they make two letters of a sharp s, and
another letter of a sigma at the end of a word. Relabelling must not.
"""


def lower(text: str) -> str:
    """Map every character to its simple lower case."""
    if text.isascii():
        return text.lower()
    # The full mapping of one character starts with its simple one (only U+0130 has two).
    return "".join(character.lower()[0] for character in text)


def upper(text: str) -> str:
    """Map every character to its simple upper case."""
    if text.isascii():
        return text.upper()
    return "".join(_upper(character) for character in text)


def _upper(character: str) -> str:
    # Where the full mapping has several characters, the simple one is the title case if that is a
    # single one (Greek with iota below), and else there is none.
    for mapped in (character.upper(), character.title()):
        if len(mapped) == 1:
            return mapped
    return character
