"""Templates such as ``$1:${port}``, as Go's ``Regexp.Expand`` reads them.

The rules: https://pkg.go.dev/regexp#Regexp.Expand. A name is the longest run of letters, digits
and underscores, so ``$1x`` asks for a group called ``1x``; ``$$`` is a dollar; whatever is no
reference stays as it is; a backslash is nothing special.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cwgpu.prom.regex import Match

_LARGEST = 10**8
"""Go stops reading a number once it has reached this, and then takes it as a name."""


@dataclass(frozen=True, slots=True)
class Group:
    """A reference to a group of the match."""

    key: int | str


@dataclass(frozen=True, slots=True)
class Template:
    """A template, taken apart."""

    parts: tuple[str | Group, ...]

    def expand(self, match: Match) -> str:
        """Fill in the groups; what is filled in is not read again."""
        return "".join(
            part if isinstance(part, str) else match.group(part.key) for part in self.parts
        )


def parse(text: str) -> Template:
    """Take a template apart. Nothing is refused."""
    return Template(tuple(filter(None, _parts(text))))


def _parts(text: str) -> Iterator[str | Group]:
    before, dollar, rest = text.partition("$")
    while dollar:
        yield before
        name, after = _name(rest)
        if name:
            yield Group(_key(name))
        else:
            yield "$"
            after = rest.removeprefix("$")
        before, dollar, rest = after.partition("$")
    yield before


def _name(text: str) -> tuple[str, str]:
    """Give the name at the start, without braces, and what comes after; no name if malformed."""
    braced = text.startswith("{")
    begin = end = int(braced)
    while end < len(text) and (text[end].isalpha() or text[end].isdecimal() or text[end] == "_"):
        end += 1
    if braced and text[end : end + 1] != "}":
        return "", text
    return text[begin:end], text[end + braced :]


def _key(name: str) -> int | str:
    """Read ASCII digits without a leading zero as a number, all else as a name."""
    if not (name.isascii() and name.isdecimal()) or (name[0] == "0" and name != "0"):
        return name
    return int(name) if int(name[:-1] or "0") < _LARGEST else name
