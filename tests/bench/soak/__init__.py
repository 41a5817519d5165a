"""Half an hour of all that changes in a cluster, and what is left of it in memory: ``make soak``.

The real program, a CloudWatch Logs and a fleet of exporters are three processes on loopback. Pods
and targets come and go, exporters are restarted, some are slow and some dead, the configuration is
read anew, CloudWatch throttles. The bars are that memory, open files and threads stay where they
are, and that the agent's account is right to the sample.

Leaks are what is looked for, not speed: the load is small, so that a machine with other work will
do. ``play`` has the order of events, ``stage`` does what they say, ``figures`` judges.
"""
