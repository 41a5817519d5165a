"""One boto3 session and its CloudWatch Logs client.

Importing this module imports boto3, which takes half a second, and opening a session asks the
outside for credentials: both belong into a worker thread.
https://boto3.amazonaws.com/v1/documentation/api/latest/guide/credentials.html
"""

import json
import os
from collections.abc import MutableMapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.configprovider import ConstantProvider
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    Credentials,
    DeferredRefreshableCredentials,
)
from botocore.exceptions import NoCredentialsError, NoRegionError
from botocore.parsers import ResponseParserError
from botocore.utils import IMDSRegionProvider

from cwgpu import __version__
from cwgpu.sinks import reply
from cwgpu.sinks.access import Access
from cwgpu.sinks.models import Models

if TYPE_CHECKING:
    from mypy_boto3_logs.client import CloudWatchLogsClient

IMDS_TIMEOUT = "metadata_service_timeout"
IMDS_TIMEOUT_S = 0.4
"""The metadata service of an instance answers in milliseconds or, from a pod, never. It is asked
twice (a token, then the matter itself), which shall not take more than a second."""

ROLE_SESSION = "cwgpu"
"""Seen in CloudTrail as the name of who took on the role."""


@dataclass(frozen=True, slots=True)
class Session:
    """A client that makes one attempt at each call, and the credentials that it signs with."""

    client: "CloudWatchLogsClient"
    credentials: Credentials

    def secrets(self) -> tuple[str, ...]:
        """Refresh the credentials when it is time, and give what must not be shown of them."""
        frozen = self.credentials.get_frozen_credentials()
        return tuple(secret for secret in (frozen.secret_key, frozen.token) if secret)

    def expires_s(self) -> float | None:
        """Give when the credentials end, in seconds since 1970; None for those that never do.

        botocore tells in public only whether it is sooner than some time (``refresh_needed``). This
        one name is all that we take from its inside; were it gone, no more than the figure is.
        """
        ends = getattr(self.credentials, "_expiry_time", None)
        return ends.timestamp() if isinstance(ends, datetime) else None


def open_session(access: Access, connections: int) -> Session:
    """Find region and credentials and make a client; raises botocore's errors."""
    core = _core(access, connections)
    region = access.region or os.environ.get("AWS_REGION") or core.get_config_variable("region")
    region = region or IMDSRegionProvider(core).provide()
    if not region:
        raise NoRegionError
    core.set_config_variable("region", region)
    if access.role_arn:
        role = _Role(core, access.role_arn)
        core = _core(access, connections)
        core.register_component("credential_provider", CredentialResolver([role]))
    credentials = core.get_credentials()
    if credentials is None:
        raise NoCredentialsError
    session = boto3.session.Session(botocore_session=core, region_name=region)
    client = session.client("logs", endpoint_url=access.endpoint_url)
    at_put = "cloudwatch-logs.PutLogEvents"
    client.meta.events.register(f"before-parameter-build.{at_put}", _take_body)
    client.meta.events.register(f"before-call.{at_put}", _put_body)
    client.meta.events.register("after-call.cloudwatch-logs", _refuse_foreign)
    return Session(client, credentials)


def _core(access: Access, connections: int) -> botocore.session.Session:
    """Give a session whose clients, also those that fetch credentials, are as patient as told."""
    core = botocore.session.Session()
    core.register_component("data_loader", Models(core.get_config_variable("data_path")))
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=access.connect_timeout_s,
        read_timeout=access.read_timeout_s,
        max_pool_connections=connections,
        tcp_keepalive=True,
        parameter_validation=False,
        user_agent_extra=f"cwgpu/{__version__}",
    )
    core.set_default_client_config(config)
    if core.get_config_variable(IMDS_TIMEOUT) == 1:  # botocore's default
        # Set as a variable it would be cut to a whole number, 0.
        store = core.get_component("config_store")
        store.set_config_provider(IMDS_TIMEOUT, ConstantProvider(IMDS_TIMEOUT_S))
    return core


def _take_body(params: MutableMapping[str, Any], context: dict[str, Any], **_: object) -> None:
    """Keep the ready body from the serialiser."""
    context["cwgpu_body"] = params.pop("logEvents")


def _put_body(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    """Put the ready body where the serialiser's would be; it is signed afterwards."""
    params["body"] = context["cwgpu_body"]
    params["headers"]["Content-Encoding"] = "gzip"
    # Optional today, and what AWS' own agents send:
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Generation_PutLogEvents.html
    params["headers"]["x-amzn-logs-format"] = "json/emf"


def _refuse_foreign(http_response: AWSResponse, **_: object) -> None:
    """Take no other page for a success: below status 300 boto3 accepts any text, and none.

    It would be a proxy's or a captive portal's, and nothing was stored.
    """
    status = http_response.status_code
    if status < HTTPStatus.MULTIPLE_CHOICES and (
        status != HTTPStatus.OK or not _ours(http_response)
    ):
        raise ResponseParserError("the answer is not CloudWatch Logs': is there a proxy between?")


def _ours(response: AWSResponse) -> bool:
    """Tell whether it looks like the service's; with an id it has answered, even if by halves."""
    if reply.REQUEST_ID in response.headers:
        return response.content[:1] in {b"", b"{"}
    try:
        return isinstance(json.loads(response.content), dict)  # as from an imitation of the service
    except ValueError:
        return False


class _Role(CredentialProvider):
    """Credentials of a role, renewed before they expire."""

    METHOD = "assume-role"

    def __init__(self, source: botocore.session.Session, role_arn: str) -> None:
        super().__init__()
        self._source = source
        self._role_arn = role_arn

    def load(self) -> DeferredRefreshableCredentials | None:
        """Give credentials that are fetched when first needed, or None without any to ask with."""
        credentials = self._source.get_credentials()
        if credentials is None:
            return None
        fetcher = AssumeRoleCredentialFetcher(
            self._source.create_client,
            credentials,
            self._role_arn,
            extra_args={"RoleSessionName": ROLE_SESSION},
        )
        return DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)
