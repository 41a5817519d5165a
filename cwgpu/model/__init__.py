"""The words: frozen values that travel between the floors.

Here belong values without behaviour, the drop reasons and the exception tree.
The behaviour of a protocol (Prometheus, EMF, CloudWatch Logs) never enters.
"""
