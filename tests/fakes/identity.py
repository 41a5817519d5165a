"""Where AWS credentials come from, on loopback: STS, EKS Pod Identity, an instance's metadata.

What it gives out is good at the fake CloudWatch whose ``secrets`` it shares::

    async with FakeCloudWatch() as cloudwatch, FakeIdentity(cloudwatch.secrets) as identity: ...

Afterwards ``identity.asked`` says who was asked and what was shown to them.
https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
"""

import itertools
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Self

from aiohttp import web

from tests.fakes import sigv4
from tests.fakes.refusal import Refusal, Refused

METADATA_TOKEN = "metadata-token"  # noqa: S105 - of a fake
INSTANCE_ROLE = "node"
_ROLES = "/latest/meta-data/iam/security-credentials/"
_RESULT = """<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result>
<Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>
<SessionToken>{token}</SessionToken><Expiration>{ends}</Expiration></Credentials>
</{action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{action}Response>"""
_ERROR = """<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>
<Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>
<RequestId>1</RequestId></ErrorResponse>"""


class FakeIdentity:
    """All three behind one door."""

    def __init__(
        self, secrets: dict[str, sigv4.Secret], clock: Callable[[], float] = time.time
    ) -> None:
        """Take who is known already, and the clock in seconds since 1970."""
        self.url = ""
        self.lifetime_s = 3600.0
        """Of what is given out next. SDKs renew in each call what has less than ten minutes."""
        self.tokens = {"token-1"}
        """The service account's tokens that are good, for STS and for Pod Identity alike."""
        self.refusal: Refusal | None = None
        """What everybody is told instead of being given anything."""
        self.asked: list[tuple[str, str]] = []
        """The action and what was shown: a token, the key that signed, or nothing."""
        self.given: list[str] = []
        """The access key ids that were given out."""
        self._secrets = secrets
        self._clock = clock
        self._numbers = itertools.count(1)

    def web_identity(self, token_file: str) -> dict[str, str]:
        """Give the variables that EKS gives a pod whose service account has a role (IRSA)."""
        return {
            "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/gpu",
            "AWS_WEB_IDENTITY_TOKEN_FILE": token_file,
            "AWS_ENDPOINT_URL_STS": self.url,
        }

    def pod_identity(self, token_file: str) -> dict[str, str]:
        """Give the variables that EKS Pod Identity gives a pod."""
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{self.url}/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token_file,
        }

    def instance(self) -> dict[str, str]:
        """Give the variables that make this the metadata service, as if on an EC2 instance."""
        return {
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.url,
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_METADATA_SERVICE_TIMEOUT": "10",  # this one does answer, however busy we are
        }

    async def __aenter__(self) -> Self:
        """Serve in the running event loop."""
        app = web.Application()
        app.router.add_post("/", self._sts)
        app.router.add_get("/v1/credentials", self._pod)
        app.router.add_put("/latest/api/token", self._metadata_token)
        app.router.add_get("/latest/{path:.*}", self._metadata)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        await self._runner.cleanup()

    async def _sts(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        try:
            given = self._role(request, await request.read(), form)
        except Refused as refused:
            text = _ERROR.format(code=refused.refusal.code, message=refused.refusal.message)
            return web.Response(text=text, status=refused.refusal.status, content_type="text/xml")
        text = _RESULT.format(action=form["Action"], **given)
        return web.Response(text=text, content_type="text/xml")

    def _role(
        self, request: web.Request, body: bytes, form: Mapping[str, str]
    ) -> Mapping[str, str]:
        if form.get("Action") == "AssumeRoleWithWebIdentity":
            return self._give(form["Action"], form["WebIdentityToken"])
        headers = {name.lower(): value for name, value in request.headers.items()}
        url = request.rel_url
        signed = sigv4.Signed("POST", url.raw_path, url.raw_query_string, headers, body)
        now = datetime.fromtimestamp(self._clock(), UTC)
        sigv4.check(signed, self._secrets, now, service="sts")
        key = headers["authorization"].partition("Credential=")[2].partition("/")[0]
        return self._give("AssumeRole", key, known=True)

    async def _pod(self, request: web.Request) -> web.Response:
        return self._document("PodIdentity", request.headers.get("Authorization", ""))

    async def _metadata_token(self, request: web.Request) -> web.Response:
        self.asked.append(
            ("MetadataToken", request.headers["x-aws-ec2-metadata-token-ttl-seconds"])
        )
        return web.Response(text=METADATA_TOKEN)

    async def _metadata(self, request: web.Request) -> web.Response:
        if request.headers.get("x-aws-ec2-metadata-token") != METADATA_TOKEN:
            return web.Response(status=401)  # version 2 alone
        if request.path == _ROLES:
            return web.Response(text=INSTANCE_ROLE)
        if request.path != _ROLES + INSTANCE_ROLE:
            return web.Response(status=404)
        return self._document("Metadata", METADATA_TOKEN, known=True)

    def _document(self, action: str, shown: str, *, known: bool = False) -> web.Response:
        try:
            given = self._give(action, shown, known=known)
        except Refused as refused:
            return web.Response(text=refused.refusal.code, status=refused.refusal.status)
        return web.json_response(
            {
                "Code": "Success",
                "AccessKeyId": given["key"],
                "SecretAccessKey": given["secret"],
                "Token": given["token"],
                "Expiration": given["ends"],
            }
        )

    def _give(self, action: str, shown: str, *, known: bool = False) -> Mapping[str, str]:
        """Make new credentials, if what was shown is good."""
        self.asked.append((action, shown))
        if self.refusal is not None:
            refused = Refused(self.refusal.code, self.refusal.message)
            refused.refusal = self.refusal
            raise refused
        if not known and shown not in self.tokens:
            raise Refused("InvalidIdentityToken", "The token is not one of ours")
        number = next(self._numbers)
        key, secret, token = f"ASIA{number}", f"secret-{number}", f"session-{number}"
        self._secrets[key] = sigv4.Secret(secret, token)
        self.given.append(key)
        ends = datetime.fromtimestamp(self._clock() + self.lifetime_s, UTC)
        return {"key": key, "secret": secret, "token": token, "ends": f"{ends:%Y-%m-%dT%H:%M:%SZ}"}
