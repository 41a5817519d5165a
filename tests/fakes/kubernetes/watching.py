"""One watch: what its client sees of the log, line by line.

https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
"""

from typing import Any

import orjson

from tests.fakes.kubernetes import listing, selectors
from tests.fakes.kubernetes.failure import FailureError
from tests.fakes.kubernetes.options import Options
from tests.fakes.kubernetes.resources import Ask
from tests.fakes.kubernetes.store import Change, Store, Stored

Json = dict[str, Any]

INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


class Watching:
    """Where one client is in the log."""

    def __init__(self, store: Store, ask: Ask, options: Options, *, metadata_only: bool) -> None:
        """Read the selectors; nothing is sent yet."""
        self.ask = ask
        self.options = options
        self.position = options.version or 0
        """The client has seen everything up to this version."""
        self._store = store
        self._metadata_only = metadata_only
        self._by_selector = selectors.both(options.labels, options.fields, ask.resource)
        self._prefix = f"{ask.namespace}/" if ask.namespace else ""

    def start(self) -> list[bytes]:
        """Give what is there already, when the client asked for it by naming no version."""
        if self.options.version and not self.options.initial_events:
            return []
        self.position, objects = self._store.all(self.ask.resource)
        lines = [self._line("ADDED", each) for each in objects if self._selected(each)]
        if self.options.initial_events and self.options.bookmarks:
            lines.append(self.bookmark(INITIAL_EVENTS_END))
        return lines

    def more(self) -> list[bytes]:
        """Give what happened since; FailureError when the log no longer reaches back that far."""
        version, changes = self._store.since(self.ask.resource, self.position)
        lines = [line for change in changes if (line := self._event(change))]
        self.position = max(self.position, version)
        return lines

    @property
    def can_bookmark(self) -> bool:
        """Tell whether bookmarks are wanted, and the client is not ahead of the server."""
        return self.options.bookmarks and self.position <= self._store.version

    def bookmark(self, annotations: Json | None = None) -> bytes:
        """Give the line that says only how far the client is."""
        metadata: Json = {"resourceVersion": str(self.position)}
        if annotations:
            metadata["annotations"] = annotations
        resource = self.ask.resource
        document: Json = {"kind": resource.kind, "apiVersion": resource.api_version}
        document |= {"metadata": metadata, **resource.zero}
        return self._line("BOOKMARK", Stored("", self.position, document))

    def _event(self, change: Change) -> bytes:
        """Give the line of a change; empty when it concerns nothing that was asked for."""
        was = change.before is not None and self._selected(change.before)
        if change.after is not None and self._selected(change.after):
            return self._line("MODIFIED" if was else "ADDED", change.after)
        return self._line("DELETED", change.gone) if was else b""

    def _selected(self, stored: Stored) -> bool:
        return stored.key.startswith(self._prefix) and self._by_selector(stored)

    def _line(self, kind: str, stored: Stored) -> bytes:
        text = listing.partial(stored) if self._metadata_only else stored.text
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), text)


def error(refused: FailureError) -> bytes:
    """Give the line that says why a watch ends."""
    return orjson.dumps({"type": "ERROR", "object": refused.status}) + b"\n"
