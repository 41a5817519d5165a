"""What is done for a request that names a resource, once it is known that it may be done."""

from typing import Any, NamedTuple

from aiohttp import web

from tests.fakes.kubernetes import failure, listing, writing
from tests.fakes.kubernetes import options as queries
from tests.fakes.kubernetes.access import Access
from tests.fakes.kubernetes.failure import FailureError
from tests.fakes.kubernetes.resources import RESOURCES, Ask, Resource
from tests.fakes.kubernetes.store import Store, Stored

Json = dict[str, Any]

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
NO_WATCH_LISTS = FailureError(
    500,
    "InternalError",
    "Internal error occurred: required storage feature RequestWatchProgress is disabled",
)
"""Over etcd 3.4. Only the words up to the feature's name were seen on a real server."""


class Given(NamedTuple):
    """An answer."""

    body: Json | bytes
    status: int = 200


def act(store: Store, ask: Ask, request: web.Request, body: Json) -> Given:
    """Do what is asked; FailureError when it cannot be done."""
    partial = metadata_only(request)
    if ask.subresource not in _subresources(ask.resource):
        raise failure.no_such_path()
    match ask.verb:
        case "list":
            options = queries.read(request.query)
            return Given(listing.answer(store, ask, options, metadata_only=partial))
        case "delete":
            return _deleted(ask, writing.delete(store, ask, body.get("preconditions")))
        case "deletecollection":
            return _all_deleted(store, ask, request)
    stored = _stored(store, ask, request, body)
    text = listing.partial(stored) if partial else stored.text
    return Given(text, 201 if ask.verb == "create" else 200)


def metadata_only(request: web.Request) -> bool:
    """Tell whether the client wants PartialObjectMetadata, or a list of it."""
    return "as=PartialObjectMetadata" in request.headers.get("Accept", "")


def review(access: Access, user: str, body: Json) -> Json:
    """Answer a SelfSubjectAccessReview, which is what ``kubectl auth can-i`` asks."""
    wanted = (body.get("spec") or {}).get("resourceAttributes") or {}
    resource = RESOURCES.get(wanted.get("resource", ""))
    allowed = False
    if resource is not None:
        named = (wanted.get("namespace", ""), wanted.get("name", ""))
        ask = Ask(wanted.get("verb", ""), resource, *named, wanted.get("subresource", ""))
        allowed = access.may(user, ask)
    return {**body, "status": {"allowed": allowed}}


def unreadable(why: str) -> FailureError:
    """Give the answer to a body that is no JSON."""
    return failure.bad_request(f"error decoding: {why}")


def unsupported(content_type: str) -> FailureError:
    """Give the answer to a body of another format, such as protobuf."""
    return FailureError(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format ({content_type}) - accepted media "
        "types include: application/json",
    )


def _stored(store: Store, ask: Ask, request: web.Request, body: Json) -> Stored:
    match ask.verb:
        case "get":
            stored = store.get(ask.resource, ask.key)
            if stored is None:
                raise failure.not_found(ask.resource.qualified, ask.name)
            return stored
        case "create":
            return writing.create(store, ask, body)
        case "update":
            return writing.update(store, ask, body)
        case "patch":
            return writing.patch(store, ask, request.content_type, body)
    message = "the server does not allow this method on the requested resource"
    raise FailureError(405, "MethodNotAllowed", message, details={})


def _subresources(resource: Resource) -> tuple[str, ...]:
    return ("", "status") if resource.has_status else ("",)


def _deleted(ask: Ask, gone: Stored) -> Given:
    """A pod is given back; of others it is said that they are gone."""
    if ask.resource.plural == "pods":
        return Given(gone.text)
    details = {"name": ask.name, "group": ask.resource.group, "kind": ask.resource.plural}
    details = {name: value for name, value in details.items() if value}
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return Given({**status, "details": {**details, "uid": gone.metadata["uid"]}})


def _all_deleted(store: Store, ask: Ask, request: web.Request) -> Given:
    options = queries.read(request.query)
    body = listing.answer(store, ask, options, metadata_only=False)
    for key in listing.keys(store, ask, options):
        namespace, _, name = key.rpartition("/")
        writing.delete(store, Ask("delete", ask.resource, namespace, name))
    return Given(body)
