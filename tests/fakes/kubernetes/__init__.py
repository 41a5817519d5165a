"""A Kubernetes API server for tests: lists, watches, writes and RBAC over one log of versions."""

from tests.fakes.kubernetes.server import FakeKubernetes

__all__ = ["FakeKubernetes"]
