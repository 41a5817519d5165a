"""The Amazon ECS task that we are part of, and the cluster that its metadata names.

https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html
"""

import functools
import http.client
from http import HTTPStatus
from urllib.parse import urlsplit

import orjson

from cwgpu.sinks import told
from cwgpu.sinks.told import LIMIT_S, Told

_MOST_BYTES = 1 << 20
"""Of the answer, which tells of each container of the task."""


def cluster_name(address: str, limit_s: float = LIMIT_S) -> Told:
    """Ask at the address that the container's environment names; give up after this time."""
    ask = functools.partial(_ask, address, limit_s)
    return told.within(limit_s, "the metadata of this ECS task", ask)


def _ask(address: str, limit_s: float) -> Told:
    try:
        where = urlsplit(address)
        connection = http.client.HTTPConnection(
            where.hostname or "", where.port or 80, timeout=limit_s
        )
        try:
            connection.request("GET", f"{where.path.rstrip('/')}/task")
            answer = connection.getresponse()
            status, text = answer.status, answer.read(_MOST_BYTES)
        finally:
            connection.close()
        if status != HTTPStatus.OK:
            return Told(fault=f"the metadata of this ECS task answer with status {status}")
        cluster = orjson.loads(text)["Cluster"]
        # Its name or its ARN, arn:aws:ecs:REGION:ACCOUNT:cluster/NAME: both are documented.
        return Told(str(cluster).rpartition("/")[2])
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        return Told(fault=f"the metadata of this ECS task cannot be read: {error}")
