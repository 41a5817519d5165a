"""What IAM says to a request that a policy is to allow.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
"""

import re

from cwgpu.logs.policy import Document


def _regex(resource: str) -> str:
    """Read a resource as IAM does: stars, and ``${?}`` for a question mark."""
    parts = re.split(r"(\$\{[?$]\}|\*|\?)", resource)
    read = {"*": ".*", "?": "."}
    return "".join(read.get(p) or re.escape(p[2] if p[:2] == "${" else p) for p in parts)


def allowed(made: Document, action: str, resource: str) -> bool:
    """Tell whether the policy lets this request through."""
    return any(
        action in statement["Action"]
        and any(re.fullmatch(_regex(each), resource) for each in statement["Resource"])
        for statement in made["Statement"]
    )
