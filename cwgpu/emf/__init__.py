"""EMF's rules: how samples become log events that CloudWatch turns into metrics.

Here belong the limits with their source, units, counter deltas, metric declarations, number text,
event templates and their splitting. The specification is
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

CloudWatch Logs calls and what PutLogEvents limits never enter (that is ``cwgpu.logs``), nor does
Prometheus: matchers come in as plain callables, numbers as plain values.
"""
