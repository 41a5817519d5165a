"""PutLogEvents' rules: what one call may hold, and what its answer means.

Here belong the limits, the cutting of events into batches, the rules for names and retention, and
the verdict on an answer. The specification is
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html

boto3, retry loops and what stands inside a message never enter.
"""
