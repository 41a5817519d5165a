"""Where ready batches leave the program: CloudWatch Logs, or lines on standard output.

Here belongs one call and what came of it, as a ``logs.verdict.Answer``: a sink never raises for
what the outside does. This is the only room that knows boto3.

Batching, retrying, and deciding what an answer means never enter: see ``cwgpu.logs`` and
``cwgpu.agent``.
"""
