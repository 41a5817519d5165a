"""Prometheus' rules, pure: what a scraper must agree on with Prometheus, and nothing else.

Here belong its regular expressions (RE2, with two doors), durations and sizes, relabelling, the
life-cycle of a target, the merge of a target's labels into a sample's, and the reading of the two
text formats. All of it follows Prometheus 3.0.1, the version that the CloudWatch agent embeds.
Fetching pages, reading configuration files, calls to Kubernetes and anything of CloudWatch or EMF
never enter.
"""
