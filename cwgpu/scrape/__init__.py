"""From a target to its page, and when.

Here belong one HTTP GET (``fetch`` and its parts) and the loops that decide when it happens
(``pool``). What the page means never enters: parsing is ``cwgpu.prom`` and ``cwgpu.digest``.
"""
