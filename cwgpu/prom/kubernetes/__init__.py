"""From Kubernetes objects to target groups: the ``__meta_kubernetes_*`` labels.

Belongs here: what Prometheus 3.0.1 (discovery/kubernetes) makes of an object, label for label, and
the labels of our own that docs/configuration.md names. Never enters: how objects are come by, and
which targets are wanted.
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#kubernetes_sd_config
"""
