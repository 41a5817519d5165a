"""What aiohttp knows of the system's authorities, and everybody else."""

import os
import subprocess
import sys
from pathlib import Path

import trustme

ROOT = Path(__file__).parents[2]
CODE = """
import ssl
from cwgpu.client import bare
with bare.importing():
    import aiohttp.connector
default = aiohttp.connector._SSL_CONTEXT_VERIFIED
print(default.verify_mode is ssl.CERT_REQUIRED, default.check_hostname)
print(default.cert_store_stats()["x509"], ssl.create_default_context().cert_store_stats()["x509"])
"""


def test_only_aiohttp_knows_no_authority(tmp_path: Path) -> None:
    """Its own context trusts no server; contexts that are made later trust whom the system does."""
    authority = tmp_path / "authority.pem"
    trustme.CA().cert_pem.write_to_path(authority)
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=ROOT,
        env={**os.environ, "SSL_CERT_FILE": str(authority)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "True", "0", "1"]


def test_the_environment_is_what_it_was() -> None:
    """Names that were not there are not there afterwards either."""
    code = "import os; from cwgpu.client import bare; before = dict(os.environ)\n"
    code += "with bare.importing(): pass\nassert dict(os.environ) == before, os.environ"
    env = {"PATH": os.environ["PATH"], "SSL_CERT_FILE": "/etc/ssl/own.pem"}
    assert not subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, check=False
    ).returncode
