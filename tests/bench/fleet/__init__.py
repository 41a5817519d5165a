"""What the whole agent costs in front of a fleet: ``python -m tests.bench.fleet``, ``make fleet``.

Exporters, CloudWatch Logs, the agent, and what the agent is compared with are processes of their
own, so that each is measured alone and from outside. Nothing of ``cwgpu`` is imported to say what
has to come out: pages, datapoints and EMF are known here from their specifications only.
"""
