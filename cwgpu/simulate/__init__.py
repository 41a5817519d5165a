"""A simulated cluster of GPUs: exporters on loopback whose pages look and move like real ones.

Here belong the simulated hardware, its pods and its load, the rendering of a page in the shape of
dcgm-exporter 4.8.1 (https://github.com/NVIDIA/dcgm-exporter) and the server of the demo. Nothing
of it is part of the path that real metrics take, and no clock or randomness enters but the time
that is asked for: equal times give equal pages.
"""
