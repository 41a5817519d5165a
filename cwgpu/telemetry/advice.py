"""What to do next after a dry run, where it did not come to what somebody hoped for."""

from collections.abc import Iterator

from cwgpu.model.drop import DropReason
from cwgpu.telemetry.account import Account

_GIVEN = "by labels of static_configs or by a rule of relabel_configs"
"""How a job's targets come to have a label."""


def steps(account: Account) -> Iterator[str]:
    """Give the sentences; none after a run that leaves nothing to be done."""
    if not account.seen and not account.dropped_targets and account.unset:
        first = account.unset[0]
        yield (
            f"No target was discovered. Set {' and '.join(account.unset)} to where an exporter is, "
            f"such as {first}=127.0.0.1:9400 before the command."
        )
    elif not account.seen and not account.dropped_targets:
        yield (
            "No target was discovered. static_configs, file_sd_configs, http_sd_configs and "
            'kubernetes_sd_configs find targets: write targets: ["HOST:9400"] under static_configs '
            "of a scrape_config, or check paths, urls, roles and selectors of the others; what is "
            "wrong with them is said above."
        )
    elif not account.seen:
        yield (
            "Every discovered target was dropped. The reasons above name the rule and the value: "
            "relabel regexes must match the whole value, and upper and lower case differ."
        )
    elif not account.up and account.down:
        yield (
            "No target gave a page that can be used; the reason stands below its URL. Try the URL "
            "with curl from this machine."
        )
    elif account.up and account.up == account.empty:
        yield "The pages are empty. Does the exporter see a GPU? Its log says so."
    elif account.samples and not account.selected:
        yield from _unselected(account)
    if account.needs_second_scrape:
        yield "Counters are sent as differences, which need two scrapes: run with --scrapes 2."


def _unselected(account: Account) -> Iterator[str]:
    missing = account.lost.get(DropReason.DIMENSION_MISSING)
    invalid = account.lost.get(DropReason.DIMENSION_INVALID)
    unselected = account.lost.get(DropReason.UNSELECTED)
    if missing is not None:
        why = f": {missing.detail}" if missing.detail else ""
        yield (
            f"Samples were selected, but no dimension set fits them{why}. Give the job's targets "
            f"the label, {_GIVEN}, or add a dimension set of labels that the samples have."
        )
    elif invalid is not None:
        yield (
            f"Samples were selected, but no dimension set fits them: {invalid.detail}. Replace it "
            "by a rule of relabel_configs or metric_relabel_configs."
        )
    elif unselected is not None and unselected.detail:
        yield (
            f"Samples are {unselected.detail}. Give the job's targets a value that it finds, "
            f"{_GIVEN}, or correct source_labels and label_matcher of the metric_declaration."
        )
    elif account.needs_second_scrape:
        return
    elif unselected is not None:
        yield (
            "No metric_selector finds the names that are unselected. Correct metric_selectors of "
            "the metric_declaration; upper and lower case differ."
        )
    else:
        yield "No sample can be sent; the reasons above say why."
