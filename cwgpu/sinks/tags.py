"""The tags of the EC2 instance that we run on. Importing this imports botocore; calls block.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
"""

import http.client
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

from cwgpu.sinks import failure
from cwgpu.sinks.session import IMDS_TIMEOUT, IMDS_TIMEOUT_S

_TOKEN, _ID = "/latest/api/token", "/latest/meta-data/instance-id"
_REGION = "/latest/meta-data/placement/region"
_ENDPOINTS = {"ipv6": "http://[fd00:ec2::254]"}
_ENDPOINT = "http://169.254.169.254"
_ENDPOINT_KEY, _MODE_KEY = "ec2_metadata_service_endpoint", "ec2_metadata_service_endpoint_mode"
# Of the token, which is used at once and no more.
_LIFE_S = "60"
# Whoever waits has gone by then; the API of the own region answers in a fraction of it.
_CALL_S = 3.0


class NoMetadataError(Exception):
    """The metadata service does not answer, or not with what it is there for."""


def read() -> dict[str, str]:
    """Give the tags; raises NoMetadataError and botocore's errors."""
    core = botocore.session.Session()
    mode = core.get_config_variable(_MODE_KEY)
    endpoint = core.get_config_variable(_ENDPOINT_KEY) or _ENDPOINTS.get(mode, _ENDPOINT)
    patience_s = core.get_config_variable(IMDS_TIMEOUT)
    if patience_s == 1:  # botocore's default
        patience_s = IMDS_TIMEOUT_S
    instance, region = _metadata(endpoint, patience_s, (_ID, _REGION))
    patience = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=_CALL_S,
        read_timeout=_CALL_S,
    )
    client: Any = core.create_client("ec2", region_name=region, config=patience)
    asked = [{"Name": "resource-id", "Values": [instance]}]
    found = client.describe_tags(Filters=asked)["Tags"]  # an instance has 50 at most: one page
    client.close()
    return {tag["Key"]: tag["Value"] for tag in found}


def fault(error: Exception) -> str:
    """Say why there are no tags, and what may be done about it."""
    if isinstance(error, NoMetadataError):
        return (
            "the metadata service of EC2 does not answer; if this is an EC2 instance, pods reach "
            "it where its hop limit is 2"
        )
    answer = failure.during(error, ()) if isinstance(error, ClientError) else failure.before(error)
    refused = "UnauthorizedOperation"
    advice = "; to have them read allow ec2:DescribeTags" if answer.code == refused else ""
    said = f"{answer.code}: {answer.message}" if answer.message else answer.code
    return f"the tags of this EC2 instance cannot be read: {said}{advice}"


def _metadata(endpoint: str, patience_s: float, paths: tuple[str, ...]) -> list[str]:
    """Ask as version 2 of the service wants it; never through a proxy."""
    where = urlsplit(endpoint)
    base = where.path.rstrip("/")
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=patience_s)
    try:
        life = {"X-aws-ec2-metadata-token-ttl-seconds": _LIFE_S}
        token = _answer(connection, "PUT", base + _TOKEN, life)
        shown = {"X-aws-ec2-metadata-token": token}
        return [_answer(connection, "GET", base + path, shown) for path in paths]
    except (OSError, http.client.HTTPException) as error:
        raise NoMetadataError(str(error)) from error
    finally:
        connection.close()


def _answer(
    connection: http.client.HTTPConnection, method: str, path: str, headers: dict[str, str]
) -> str:
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    text = response.read().decode("ascii", errors="replace").strip()
    if response.status != HTTPStatus.OK or not text:
        raise NoMetadataError(f"status {response.status}")
    return text
