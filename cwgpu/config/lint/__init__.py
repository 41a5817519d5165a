"""What loads but will not do what was meant: the rules behind ``cwgpu check``.

Here belong rules about configuration that can be read: each is a small function with a code of its
own, which speaks only when it is sure; beside them stands what they know about Kubernetes and the
exporter. What cannot be read at all is refused in ``cwgpu.config`` before any of this runs.
Nothing here looks at a cluster, a page or the clock, and nothing that runs calls it.
"""
