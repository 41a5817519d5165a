"""The body of a PutLogEvents request, made without boto3's slow general serialiser.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
CloudWatch Logs takes gzip although its model does not say so; AWS' own agents send nothing else.
"""

import gzip

import orjson

from cwgpu.model.event import LogBatch

LEVEL = 1
"""Five times smaller for 10 ms a megabyte; level 6 takes 25 ms for six times."""


def compressed(batch: LogBatch) -> bytes:
    """Give the request's JSON document, gzipped."""
    document = {
        "logGroupName": batch.stream.group,
        "logStreamName": batch.stream.stream,
        "logEvents": [
            {"timestamp": event.at_ms, "message": event.message.decode(errors="replace")}
            for event in batch.events
        ],
    }
    return gzip.compress(orjson.dumps(document), LEVEL, mtime=0)
