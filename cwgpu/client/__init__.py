"""What an HTTP request to a target or a discovery service carries, as prometheus.yml says it.

Belongs here: credentials (files are read again when they change), TLS, proxies, headers.
Never enters: what is asked for, and what the answer means.
"""
