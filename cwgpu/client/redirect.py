"""Where a redirect leads, and whether our credentials go along.

They do not go to another host or port, nor from https to http; only from http to https of the same
host the port may change. Once left behind they stay behind. Prometheus 3.0 sends them to whoever it
is redirected to; here whoever answers a scrape cannot ask for a password that is not meant for him.
https://www.rfc-editor.org/rfc/rfc9110#section-15.4
"""

from yarl import URL

from cwgpu.client import address
from cwgpu.client.failure import RedirectError

STATUSES = frozenset({301, 302, 303, 307, 308})
"""The answers that Go's HTTP client takes for redirects."""

MOST_REQUESTS = 10
"""Go's client stops at the answer to the tenth request, if that is a redirect, too."""


def destination(url: URL, location: str) -> URL:
    """Give the URL that a Location means, seen from the URL that answered with it."""
    try:
        written = address.url(location)
        to = url.join(written)
        # "http:///x" would be joined to our host; Go's client finds no host in it, either.
        hostless = bool(written.scheme) and not written.raw_host
        usable = to.scheme in {"http", "https"} and not hostless
    except ValueError:
        usable = False
    if not usable:
        raise RedirectError("it redirects to something that is no HTTP URL; check metrics_path")
    return to


def keeps_credentials(url: URL, to: URL) -> bool:
    """Tell whether what is meant for a URL may be shown to another."""
    if url.raw_host != to.raw_host:
        return False
    same = (url.scheme, url.port) == (to.scheme, to.port)
    return same or (url.scheme, to.scheme) == ("http", "https")
