"""Breaking what is whole: bytes, here and there."""

import random
from collections.abc import Sequence

_INTERESTING = [
    *[b"\0", b"\n", b"\r", b"\t", b" ", b'"', b"\\", b"{", b"}", b",", b"=", b"#", b":", b"/"],
    *[b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8"],
    *[b"\\n", b'\\"', b"\\\\", b"\\\n", b"\r\n", b"\n\n", b"  "],
]
NUMBERS = [
    *[b"0", b"-0", b"1", b"+1", b".5", b"5.", b"1e3", b"1E-400", b"1e400", b"NaN", b"+Inf"],
    *[b"9223372036854775807", b"9223372036854775808", b"99999999999999999999", b"1_0", b"0x1p3"],
    *[b"4.9e-324", b"1.7976931348623157e308", b"2147483632", b"0.1" + b"0" * 400, b"1" * 400],
    *[b"-inf"],
]
_LONGEST = 1 << 14
"""Cases stay small: what takes long for its size is looked for by tests/load/lines.py."""


def broken(random: random.Random, whole: bytes, tokens: Sequence[bytes], rounds: int) -> bytes:
    """Break it at some places; ``tokens`` are what its language is made of."""
    body = whole
    for _ in range(rounds):
        body = random.choice(_WAYS)(random, body, tokens)[:_LONGEST]
    return body


def _place(random: random.Random, body: bytes) -> int:
    return random.randint(0, len(body))


def _span(random: random.Random, body: bytes) -> tuple[int, int]:
    begin = _place(random, body)
    return begin, min(len(body), begin + random.choice((1, 1, 2, 4, 8, 32, 128)))


def _flip(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    if not body:
        return b"\0"
    at = random.randrange(len(body))
    return body[:at] + bytes([body[at] ^ 1 << random.randrange(8)]) + body[at + 1 :]


def _replace(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _span(random, body)
    return body[:begin] + random.choice(_INTERESTING) + body[end:]


def _insert(random: random.Random, body: bytes, tokens: Sequence[bytes]) -> bytes:
    at = _place(random, body)
    token = random.choice(random.choice((tokens, _INTERESTING, NUMBERS)))
    return body[:at] + token * random.choice((1, 1, 1, 2, 9)) + body[at:]


def _delete(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _span(random, body)
    return body[:begin] + body[end:]


def _repeat(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _span(random, body)
    return body[:end] + body[begin:end] * random.choice((1, 1, 3, 40)) + body[end:]


def _move(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _span(random, body)
    rest = body[:begin] + body[end:]
    at = _place(random, rest)
    return rest[:at] + body[begin:end] + rest[at:]


def _cut(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    return body[: _place(random, body)]


def _lines(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    lines = body.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    if random.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.insert(other, lines[one])
    return b"\n".join(lines)


def _number(random: random.Random, body: bytes, _: Sequence[bytes]) -> bytes:
    """Give a line another last word, which on a page is its number."""
    lines = body.split(b"\n")
    at = random.randrange(len(lines))
    head, blank, _word = lines[at].rpartition(b" ")
    lines[at] = head + blank + random.choice(NUMBERS)
    return b"\n".join(lines)


_WAYS = (
    *(_flip, _replace, _replace, _insert, _insert, _insert),
    *(_delete, _repeat, _move, _cut, _lines, _lines, _number, _number),
)
