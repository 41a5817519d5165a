"""The Kubernetes API: who we are there, what is asked, and keeping a copy of what it has.

Belongs here: credentials, requests and what their failures mean, lists and watches, leases. Never
enters: meta labels, targets, and who of several agents does the work.
https://kubernetes.io/docs/reference/using-api/api-concepts/
"""
