"""Lists: whole, in pages, of now or of a version that was.

https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
"""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from tests.fakes.kubernetes import failure, selectors
from tests.fakes.kubernetes.options import Options
from tests.fakes.kubernetes.resources import Ask
from tests.fakes.kubernetes.store import Store, Stored

Json = dict[str, Any]

_TOKEN = "meta.k8s.io/v1"  # noqa: S105 - the version of the token's form
_ANY = -1
"""A token's version that stands for the newest."""
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


class _Source(NamedTuple):
    version: int
    objects: Sequence[Stored]
    start: str = ""
    """The first key."""


def answer(store: Store, ask: Ask, options: Options, *, metadata_only: bool) -> bytes:
    """Give a list as it goes over the wire."""
    source = _source(store, ask, options)
    prefix = f"{ask.namespace}/" if ask.namespace else ""
    found = _selected(source, ask, options)
    metadata: Json = {"resourceVersion": str(source.version)}
    if options.limit and options.version != 0 and len(found) > options.limit:
        remaining = len(found) - options.limit
        found = found[: options.limit]
        after = found[-1].key.removeprefix(prefix) + "\0"
        metadata["continue"] = _token(source.version, after)
        if not options.selects:
            metadata["remainingItemCount"] = remaining
        store.keep(ask.resource, source.version, source.objects)
    return _document(ask, metadata, found, metadata_only=metadata_only)


def keys(store: Store, ask: Ask, options: Options) -> list[str]:
    """Give the keys of what a list would give."""
    return [each.key for each in _selected(_source(store, ask, options), ask, options)]


def partial(stored: Stored) -> bytes:
    """Give an object's metadata alone, as PartialObjectMetadata."""
    typed = {"kind": "PartialObjectMetadata", "apiVersion": _TOKEN}
    return orjson.dumps({**typed, "metadata": stored.metadata})


def _selected(source: _Source, ask: Ask, options: Options) -> list[Stored]:
    selected = selectors.both(options.labels, options.fields, ask.resource)
    prefix = f"{ask.namespace}/" if ask.namespace else ""
    return [
        each
        for each in source.objects
        if each.key >= source.start and each.key.startswith(prefix) and selected(each)
    ]


def _document(ask: Ask, metadata: Json, found: list[Stored], *, metadata_only: bool) -> bytes:
    kind, version = f"{ask.resource.kind}List", ask.resource.api_version
    if metadata_only:
        kind, version = "PartialObjectMetadataList", _TOKEN
    head = orjson.dumps({"kind": kind, "apiVersion": version, "metadata": metadata})
    items = b",".join(partial(each) if metadata_only else each.item for each in found)
    return head[:-1] + b',"items":[' + items + b"]}"


def _source(store: Store, ask: Ask, options: Options) -> _Source:
    """Give the version that is asked for, or why it cannot be had."""
    if options.token:
        return _continued(store, ask, options.token)
    now = _Source(*store.all(ask.resource))
    asked = options.version or 0
    if asked > now.version:
        raise failure.too_large(asked, now.version)
    if options.match != "Exact" or asked == now.version:
        return now
    kept = store.kept(ask.resource, asked)
    if kept is None:
        raise failure.expired("The resourceVersion for the provided list is too old.")
    return _Source(asked, kept)


def _continued(store: Store, ask: Ask, token: str) -> _Source:
    version, relative = _read(token)
    start = f"{ask.namespace}/{relative}" if ask.namespace else relative
    if version == _ANY:
        return _Source(*store.all(ask.resource), start)
    kept = store.kept(ask.resource, version)
    if kept is None:
        raise failure.expired(_TOO_OLD, resume=_token(_ANY, relative))
    return _Source(version, kept, start)


def _token(version: int, start: str) -> str:
    text = json.dumps({"v": _TOKEN, "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(token: str) -> tuple[int, str]:
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)
    except binascii.Error:
        raise _bad("illegal base64 data at input byte 0") from None
    try:
        read = json.loads(raw)
        return int(read["rv"]), str(read["start"]).removeprefix("/")
    except (ValueError, TypeError, KeyError):
        first = raw[:1].decode("latin-1")
        raise _bad(f"invalid character '{first}' looking for beginning of value") from None


def _bad(why: str) -> failure.FailureError:
    return failure.bad_request(f"invalid continue token: continue key is not valid: {why}")
