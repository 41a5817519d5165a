"""aiohttp imported without the system's authorities.

As it is imported it reads all of them, twice, for requests that bring no TLS context of their own:
90 ms and 3 MiB. Each of ours that needs TLS brings one (``tls``, ``cwgpu.kube.tls``), so nobody
ever uses those two. Should somebody, the one that verifies would trust no server.
"""

import contextlib
import os
from collections.abc import Iterator

_PLACES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Where OpenSSL is told to look. https://docs.openssl.org/3.0/man3/SSL_CTX_load_verify_locations/"""


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Import aiohttp in here, before there are threads: the environment is another meanwhile."""
    kept = {name: os.environ[name] for name in _PLACES if name in os.environ}
    os.environ.update(dict.fromkeys(_PLACES, os.devnull))
    try:
        yield
    finally:
        for name in _PLACES:
            del os.environ[name]
        os.environ.update(kept)
