"""A text as it stands between the quotes of a JSON string.

A message is JSON, and goes to CloudWatch Logs as a string in a request that is JSON, too. What is
the same in every message is quoted once, and a request takes what comes of it as it is.
https://www.rfc-editor.org/rfc/rfc8259#section-7
"""

import orjson


def quote(text: bytes) -> bytes:
    """Quote UTF-8; what is none becomes U+FFFD, as no JSON could hold it."""
    return orjson.dumps(text.decode(errors="replace"))[1:-1]


def read(quoted: bytes) -> bytes:
    """Give the text that was quoted; ValueError where it was not quoted."""
    text: str = orjson.loads(b'"%b"' % quoted)
    return text.encode()
