"""The running agent: the only place with tasks, queues, signals and the present time.

Here everything is built and joined: discovery to scraping, pages to sinks, outcomes to telemetry.
Rules never enter: what to do about an answer, a page or a time is decided by the floors below.
"""
