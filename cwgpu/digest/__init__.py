"""The recipe: a page of metrics in, log events and an account of every sample out.

Here belongs what joins the rules of Prometheus, DCGM and EMF on the way of one sample. A page is
compiled once and replayed at every scrape (docs/architecture.md). Fetching pages, sending events
and clocks never enter: the time of a scrape comes in as an argument.
"""
