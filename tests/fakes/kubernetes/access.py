"""Who asks, and whether they may: bearer tokens and role-based access control.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kubernetes.failure import FailureError, unauthorized
from tests.fakes.kubernetes.resources import RESOURCES, Ask

ANONYMOUS = "system:anonymous"
ADMIN = "kubernetes-admin"
_PUBLIC = ("/version", "/healthz", "/livez", "/readyz")
"""What anybody may read: system:public-info-viewer."""
_DISCOVERY = ("/api", "/apis", "/openapi", *_PUBLIC)
"""What anybody with a name may read: system:discovery."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a role, bound to a user."""

    verbs: frozenset[str]
    resources: frozenset[str]
    """Plurals, with a subresource as ``pods/status``; ``*`` is all."""
    groups: frozenset[str]
    names: frozenset[str] = frozenset()
    """Empty: of any name."""
    namespace: str | None = None
    """None: bound in the whole cluster."""

    def allows(self, ask: Ask) -> bool:
        """Tell whether this rule is enough."""
        resource = ask.resource.plural + (f"/{ask.subresource}" if ask.subresource else "")
        return (
            self.namespace in (None, ask.namespace)
            and not self.verbs.isdisjoint({ask.verb, "*"})
            and not self.resources.isdisjoint({resource, "*"})
            and not self.groups.isdisjoint({ask.resource.group, "*"})
            and (not self.names or ask.name in self.names)
        )


@dataclass(slots=True)
class Access:
    """Tokens and rules."""

    tokens: dict[str, str] = field(default_factory=dict)
    """Token -> user."""
    rules: dict[str, list[Rule]] = field(default_factory=dict)
    """User -> rules."""

    def token(self, user: str) -> str:
        """Give a user one more token."""
        token = secrets.token_urlsafe(24)
        self.tokens[token] = user
        return token

    def rotate(self, token: str) -> str:
        """Give the user of a token another one; the old one is no longer good."""
        return self.token(self.tokens.pop(token))

    def allow(self, user: str, rules: Iterable[Rule]) -> None:
        """Allow a user more."""
        self.rules.setdefault(user, []).extend(rules)

    def user(self, headers: Mapping[str, str]) -> str:
        """Tell who asks; a token that nobody knows is refused."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        known = self.tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        if known is None:
            raise unauthorized()
        wanted = headers.get("Impersonate-User")
        if wanted is None or known == ADMIN:
            return wanted or known
        if any("impersonate" in rule.verbs for rule in self.rules.get(known, ())):
            return wanted
        raise FailureError(
            403,
            "Forbidden",
            f'users "{wanted}" is forbidden: User "{known}" cannot impersonate resource "users" '
            'in API group "" at the cluster scope',
            details={"name": wanted, "kind": "users"},
        )

    def may(self, user: str, ask: Ask) -> bool:
        """Tell whether a user may do this."""
        return user == ADMIN or any(rule.allows(ask) for rule in self.rules.get(user, ()))

    def check(self, user: str, ask: Ask) -> None:
        """Refuse what a user may not do."""
        if not self.may(user, ask):
            raise _forbidden(user, ask)

    def check_path(self, user: str, path: str) -> None:
        """Refuse a path without a resource that a user may not read."""
        readable = _PUBLIC if user == ANONYMOUS else _DISCOVERY
        if user != ADMIN and not path.startswith(readable):
            message = f'forbidden: User "{user}" cannot get path "{path}"'
            raise FailureError(403, "Forbidden", message, details={})


def rules_of(
    allowed: Mapping[str, Sequence[str]] | Sequence[Mapping[str, Any]], namespace: str | None
) -> list[Rule]:
    """Read plurals with verbs, or the ``rules`` of a Role or ClusterRole."""
    if isinstance(allowed, Mapping):
        return [_rule(resource, verbs, namespace) for resource, verbs in allowed.items()]
    return [
        Rule(
            frozenset(each["verbs"]),
            frozenset(each["resources"]),
            frozenset(each["apiGroups"]),
            frozenset(each.get("resourceNames", ())),
            namespace,
        )
        for each in allowed
        if "resources" in each
    ]


def _rule(resource: str, verbs: Sequence[str], namespace: str | None) -> Rule:
    known = RESOURCES.get(resource.partition("/")[0])
    group = known.group if known else "*"
    return Rule(frozenset(verbs), frozenset({resource}), frozenset({group}), namespace=namespace)


def _forbidden(user: str, ask: Ask) -> FailureError:
    resource, called = ask.resource, f' "{ask.name}"' if ask.name else ""
    shown = resource.plural + (f"/{ask.subresource}" if ask.subresource else "")
    where = f'in the namespace "{ask.namespace}"' if ask.namespace else "at the cluster scope"
    details = {"name": ask.name, "group": resource.group, "kind": resource.plural}
    return FailureError(
        403,
        "Forbidden",
        f'{resource.qualified}{called} is forbidden: User "{user}" cannot {ask.verb} resource '
        f'"{shown}" in API group "{resource.group}" {where}',
        details={name: value for name, value in details.items() if value},
    )
