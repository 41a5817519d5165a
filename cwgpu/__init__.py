"""GPU metrics from DCGM exporters into Amazon CloudWatch, per pod.

The floors (see docs/architecture.md), top first; imports point down only:
cli, agent, the edges, digest, plan, the rules (prom, emf, logs, pace, gpu), model.
"""

__version__ = "0.1.0"
