"""An EC2 instance on loopback: its metadata service, and the API that knows its tags.

``async with FakeInstance(tags) as instance: ...`` or, for tests that start processes, ``with``.
``instance.environ`` leads an AWS SDK to both. Afterwards ``instance.asked`` says what was asked.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
"""

import asyncio
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Self

from aiohttp import web

from tests.fakes import sigv4

ID, REGION = "i-0123456789abcdef0", "eu-central-1"
KEY_ID, SECRET = "AKIDEXAMPLE", "secret"
_TOKEN = "metadata-token"  # noqa: S105 - of a fake
_PAGES = {
    "/latest/meta-data/instance-id": ID,
    "/latest/meta-data/placement/region": REGION,
}
_TAGS = """<DescribeTagsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><tagSet>{items}
</tagSet></DescribeTagsResponse>"""
_TAG = "<item><resourceId>{id}</resourceId><key>{key}</key><value>{value}</value></item>"
_REFUSAL = """<Response><Errors><Error><Code>{code}</Code><Message>You are not authorized.</Message>
</Error></Errors><RequestID>1</RequestID></Response>"""


class FakeInstance:
    """Both behind one door."""

    def __init__(self, tags: Mapping[str, str] | None = None) -> None:
        """Take the instance's tags."""
        self.tags = dict(tags or {})
        self.url = ""
        self.refusal = ""
        """A code that the API answers with instead."""
        self.metadata_status = 200
        """What the metadata service answers with."""
        self.silent = False
        """Nobody answers at all."""
        self.asked: list[str] = []

    @property
    def environ(self) -> dict[str, str]:
        """Give the variables that lead here, and nowhere else."""
        return {
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.url,
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_METADATA_SERVICE_TIMEOUT": "10",  # this one does answer, however busy we are
            "AWS_ENDPOINT_URL_EC2": self.url,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }

    async def __aenter__(self) -> Self:
        """Serve in the running event loop."""
        self._end = asyncio.Event()
        app = web.Application()
        app.router.add_put("/latest/api/token", self._token)
        app.router.add_get("/latest/{path:.*}", self._metadata)
        app.router.add_post("/", self._api)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        self._end.set()
        await self._runner.cleanup()

    def __enter__(self) -> Self:
        """Serve in a thread of its own."""
        ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(ready),))
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        async with self:
            ready.set()
            await self._end.wait()

    async def _token(self, request: web.Request) -> web.Response:
        await self._hear("token")
        assert int(request.headers["x-aws-ec2-metadata-token-ttl-seconds"]) > 0
        return web.Response(text=_TOKEN, status=self.metadata_status)

    async def _metadata(self, request: web.Request) -> web.Response:
        await self._hear(request.path.rpartition("/")[2])
        if request.headers.get("x-aws-ec2-metadata-token") != _TOKEN:
            return web.Response(status=401)
        if request.path not in _PAGES:  # no role, so no credentials
            return web.Response(status=404)
        return web.Response(text=_PAGES[request.path])

    async def _api(self, request: web.Request) -> web.Response:
        body = await request.read()
        form = await request.post()
        await self._hear(str(form["Action"]))
        headers = {name.lower(): value for name, value in request.headers.items()}
        signed = sigv4.Signed("POST", request.rel_url.raw_path, "", headers, body)
        known = {KEY_ID: sigv4.Secret(SECRET)}
        assert sigv4.check(signed, known, datetime.now(UTC), service="ec2") == REGION
        assert (form["Filter.1.Name"], form["Filter.1.Value.1"]) == ("resource-id", ID)
        if self.refusal:
            text = _REFUSAL.format(code=self.refusal)
            return web.Response(text=text, status=403, content_type="text/xml")
        items = "".join(_TAG.format(id=ID, key=k, value=v) for k, v in self.tags.items())
        return web.Response(text=_TAGS.format(items=items), content_type="text/xml")

    async def _hear(self, what: str) -> None:
        self.asked.append(what)
        if self.silent:
            await self._end.wait()
