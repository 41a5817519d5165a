"""Role ``ingress``: a target for each path of each host (discovery/kubernetes/ingress.go)."""

from cwgpu.model.objects import Ingress, IngressRule
from cwgpu.prom.kubernetes import meta
from cwgpu.prom.kubernetes.meta import NAMESPACE, Found


def targets(ingress: Ingress) -> tuple[Found, ...]:
    """Give the ingress' targets; a rule without paths has one, ``/``."""
    return tuple(
        {
            "__address__": rule.host,
            meta.label("ingress_scheme"): _scheme(ingress, rule.host),
            meta.label("ingress_host"): rule.host,
            meta.label("ingress_path"): path,
        }
        for rule in ingress.spec.rules or ()
        for path in _paths(rule)
    )


def group(ingress: Ingress) -> Found:
    """Give what all of an ingress' targets have."""
    found = {
        NAMESPACE: ingress.metadata.namespace,
        **meta.described("ingress", ingress.metadata),
    }
    if ingress.spec.ingress_class_name is not None:
        found[meta.label("ingress_class_name")] = ingress.spec.ingress_class_name
    return found


def _paths(rule: IngressRule) -> tuple[str, ...]:
    if rule.http is None:
        return ("/",)
    return tuple(each.path or "/" for each in rule.http.paths or ())


def _scheme(ingress: Ingress, host: str) -> str:
    patterns = [pattern for tls in ingress.spec.tls or () for pattern in tls.hosts or ()]
    return "https" if any(_covers(pattern, host) for pattern in patterns) else "http"


def _covers(pattern: str, host: str) -> bool:
    """Tell whether a certificate's name covers a host; a leading ``*`` is one label of it."""
    if pattern == host:
        return True
    first, *rest = pattern.split(".")
    return first == "*" and rest == host.split(".")[1:]
