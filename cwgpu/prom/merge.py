"""How the labels of a sample and of its target become one set.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/ (``honor_labels``);
details after Prometheus 3.0.1, ``scrape/scrape.go`` (``mutateSampleLabels``).
"""

from cwgpu.model.labels import Labels

_PREFIX = "exported_"


def merge(exposed: Labels, target: Labels, *, honor: bool) -> dict[str, str]:
    """Give the labels of a sample before metric relabelling; none of them is empty.

    With ``honor`` a label that the page exposes wins, even when it is empty, which then removes
    the target's. Without, the target's wins and the page's moves to ``exported_<name>``.
    """
    if honor:
        merged = {**target, **exposed}
        return {name: value for name, value in merged.items() if value}
    merged = {name: value for name, value in exposed.items() if value}
    moving: list[tuple[str, str]] = []
    for name, value in target.items():
        if value:
            if name in merged:
                moving.append((name, merged[name]))
            merged[name] = value
    # Shortest first, in UTF-8 bytes, and then by name: it decides who gets which free name.
    for name, value in sorted(moving, key=lambda pair: (len(pair[0].encode()), pair[0])):
        free = _PREFIX + name
        while free in merged:
            free = _PREFIX + free
        merged[free] = value
    return merged
