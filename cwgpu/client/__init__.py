"""What an HTTP request to a target or a discovery service carries, as prometheus.yml says it.

Belongs here: credentials (files are read again when they change), TLS, proxies, headers, redirects,
names, and the words for all that goes wrong on the way. ``clients`` is the door.
Never enters: what is asked for, and what the answer means.
"""
