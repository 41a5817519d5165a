"""What is special about DCGM: blank values, names, units and labels that changed, rates, XIDs.

Here belong facts about NVIDIA's DCGM (https://docs.nvidia.com/datacenter/dcgm/latest/) and its
exporter (https://github.com/NVIDIA/dcgm-exporter) that no exposition format can tell. I/O never
enters, nor does a rule that would hold for metrics of anything but GPUs.
"""
