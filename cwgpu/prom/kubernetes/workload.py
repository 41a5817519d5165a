"""What a pod belongs to, in a person's words: the Deployment, not its ReplicaSet of today.

Worked out from names that the controllers give, so no permission to read ReplicaSets or Jobs is
needed. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
and https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#job-name
"""

import re

from cwgpu.model.objects import Owner, Pod

_HASH = "pod-template-hash"
# A CronJob names its Jobs by the minute that they are due, counted from 1970: eight digits now and
# for the next 160 years.
_DUE = re.compile(r"(.+)-\d{8}")


def controller(pod: Pod) -> Owner | None:
    """Give the owner that is the pod's controller."""
    return next((each for each in pod.metadata.owner_references or () if each.controller), None)


def workload(pod: Pod) -> tuple[str, str]:
    """Give kind and name of what somebody created; ("", "") for a pod of its own."""
    owner = controller(pod)
    if owner is None:
        return "", ""
    if owner.kind == "ReplicaSet":
        template = (pod.metadata.labels or {}).get(_HASH, "")
        if template and owner.name.endswith(f"-{template}"):
            return "Deployment", owner.name.removesuffix(f"-{template}")
    if owner.kind == "Job" and (scheduled := _DUE.fullmatch(owner.name)):
        return "CronJob", scheduled[1]
    return owner.kind, owner.name
