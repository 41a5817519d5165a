"""Which tests hold the rows of docs/compatibility.md: by topic, as it is written there.

``FILE::TEST`` below tests/; what stands in brackets is the recorded case by which the test is run.
"""

from collections.abc import Mapping

_CASES = "golden/test_cloudwatch_agent.py"
_SAME = f"{_CASES}::test_same_datapoints_as_the_agent"
_BETTER = f"{_CASES}::test_better_than_the_agent"
_REFUSED = f"{_CASES}::test_better_to_refuse_than_to_guess"
_DELIVERY = "golden/test_delivery.py"
_AGENT = "config/test_agent.py"

CONFIGURATION: Mapping[str, tuple[str, ...]] = {
    "several JSON files in the directory": (
        "config/test_where.py::test_a_directory_is_read_as_one_file",
        "config/test_where.py::test_conflicting_files_are_an_error",
    ),
    "`label_matcher`, `metric_selectors`": (f"{_SAME}[P29]", f"{_SAME}[P35]"),
    "`label_separator`": (f"{_BETTER}[P32]", f"{_BETTER}[P33]"),
    "`metric_declaration_dedup`": (
        f"{_AGENT}::test_dedup_is_honoured",
        "digest/test_recipe.py::test_declarations_are_joined_if_wanted",
    ),
    "a declaration without `source_labels` or `metric_selectors`": (
        f"{_SAME}[P37]",
        f"{_SAME}[P38]",
    ),
    "broken regex, empty matcher, empty list of selectors or source labels": (
        f"{_REFUSED}[P41]",
        f"{_REFUSED}[P43]",
        f"{_REFUSED}[P44]",
        f"{_REFUSED}[P45]",
        f"{_AGENT}::test_an_empty_matcher_is_an_error",
    ),
    "more than 10 names in a dimension set": (
        f"{_BETTER}[P49]",
        "reports/test_emf.py::test_more_dimensions_than_a_set_may_have",
    ),
    "a unit that CloudWatch does not know": (
        f"{_REFUSED}[P53]",
        f"{_CASES}::test_known_units_are_the_agents",
    ),
    "cluster name": (
        f"{_AGENT}::test_log_group_and_cluster_name_agree",
        f"{_AGENT}::test_the_cluster_name_is_looked_for_in_order",
    ),
    "cluster name from EC2 tags": (
        "sinks/test_instance.py::test_tags_that_name_a_cluster",
        "sinks/test_instance.py::test_an_answer_that_takes_too_long",
        "cli/test_configure.py::test_a_name_that_is_needed",
        "cli/test_configure.py::test_nobody_is_asked_without_need",
    ),
    "a task of Amazon ECS": (
        "cli/test_configure.py::test_a_task_of_ecs",
        "sinks/test_task.py::test_an_answer_that_names_none",
    ),
    "no cluster name, though dimensions name `ClusterName`": (
        "reports/test_config.py::test_a_cluster_without_a_name",
    ),
    "no log group on a plain host": (
        f"{_AGENT}::test_no_log_group_names_the_keys_to_write",
        f"{_AGENT}::test_log_group_and_cluster_name_agree",
    ),
    "log stream": (f"{_AGENT}::test_the_stream_is_the_job", f"{_SAME}[P58]"),
    "retention of log groups": (
        f"{_AGENT}::test_a_key_in_the_wrong_place_is_sent_to_the_right_one",
        f"{_DELIVERY}::test_retention_of_a_group_that_we_make",
        "sinks/test_groups.py::test_a_group_of_somebody_else_keeps_its_retention",
    ),
    "unknown keys": (
        "config/test_validate.py::test_an_unknown_key_is_sent_to_the_nearest",
        f"{_AGENT}::test_the_collection_interval_has_no_effect",
    ),
    '`prometheus_config_path: "env:NAME"`': (
        "config/test_where.py::test_the_jobs_may_stand_in_the_environment",
        "config/test_where.py::test_a_variable_that_is_not_set_is_an_error",
    ),
    "a faulty prometheus.yaml": (
        "cli/test_run.py::test_a_broken_configuration_starts_nothing",
        "agent/test_reload.py::test_a_broken_file_leaves_the_last_good_plan",
    ),
    "`static_configs`, `file_sd_configs`, `http_sd_configs`": (
        "prom/test_targeting.py::test_targets_are_those_of_prometheus",
        "discovery/test_file.py::test_groups_carry_their_file",
        "discovery/test_http.py::test_groups_carry_their_url",
    ),
    "`kubernetes_sd_configs`": (
        "prom/kubernetes/test_recorded.py::test_objects_become_the_groups_that_prometheus_makes",
    ),
    "credentials, TLS settings, headers and proxies towards targets": (
        "config/test_access.py::test_credentials",
        "scrape/test_secure.py::test_everything_can_be_rotated",
    ),
    "`up` and the other series about scrapes": (
        f"{_SAME}[P26]",
        "agent/test_reports.py::test_reports_are_selected_like_other_series",
    ),
    "`scrape_config_files`": (
        "config/test_further.py::test_jobs_of_all_files_come_together",
        "agent/test_reload.py::test_a_file_that_appears_where_more_may_come",
    ),
}

SAMPLES: Mapping[str, tuple[str, ...]] = {
    "a bad line in a page": (
        "prom/test_exposition.py::test_a_bad_line_costs_itself_alone",
        "prom/test_samples.py::test_strict_reading_ends_at_the_first_fault",
    ),
    "gauge, counter, summary": (f"{_SAME}[P01]", f"{_SAME}[P05]", f"{_SAME}[P20]"),
    "histogram": (f"{_SAME}[P18]", f"{_SAME}[P73]"),
    "no TYPE, untyped, unknown": (f"{_SAME}[P16]", f"{_SAME}[P17]", f"{_SAME}[P74]"),
    "type of `x_count` when a family `x` exists": (f"{_BETTER}[P25]", f"{_BETTER}[P75]"),
    "OpenMetrics counter renamed by relabelling": (f"{_SAME}[P21]", f"{_BETTER}[P22]"),
    "exemplars": (f"{_BETTER}[P28]",),
    "first sample of a counter, and a reset": (f"{_SAME}[P07]",),
    "NaN on a counter": (f"{_SAME}[P08]",),
    "counter whose time does not advance": (f"{_BETTER}[P09]", f"{_BETTER}[P10]"),
    "counters scraped every 5 minutes or slower": (
        f"{_CASES}::test_counters_may_be_scraped_rarely",
    ),
    "DCGM rates that are typed as counters": (
        "gpu/test_rates.py::test_rates_are_told_from_counters",
        "digest/test_recipe.py::test_treatment_of_counters",
    ),
    "DCGM's blank values": ("reports/test_gpu.py::test_a_number_that_means_none",),
    "label names of new and old exporters (`hostname`, `uuid`, `pod_name` ...)": (
        "gpu/test_normalise.py::test_rows_of_all_versions_look_alike",
        "reports/test_gpu.py::test_a_label_that_newer_exporters_call_otherwise",
    ),
    "field names of DCGM 4.6 and 4.7": (
        "reports/test_gpu.py::test_fields_of_newer_exporters",
        "gpu/test_alias.py::test_every_renamed_field_gets_its_old_name_back",
        "digest/test_recipe.py::test_fields_have_their_older_names",
    ),
    "values that a field cannot have": ("reports/test_gpu.py::test_a_utilisation_that_cannot_be",),
    "`labelkeep` in relabel rules": (f"{_CASES}::test_labelkeep_keeps_the_scrape",),
    "one pod found through two ports": (
        f"{_CASES}::test_two_ports_of_one_exporter_are_scraped_once",
        "agent/test_reports.py::test_equal_targets_count_once",
    ),
    "two exporters on one node": (
        "reports/test_gpu.py::test_two_exporters_are_told_of",
        "agent/test_chorus.py::test_one_that_dies_hands_over",
    ),
    "an exporter that gives the same numbers for ever": (
        "reports/test_gpu.py::test_values_of_long_ago",
        "agent/test_frost.py::test_gpus_that_stand_still_are_named",
    ),
}

EVENTS: Mapping[str, tuple[str, ...]] = {
    "events": (
        "digest/test_events_law.py::test_the_packing_changes_no_statistic",
        "bench/test_packing.py::test_a_sample_has_no_more_bytes_than_wanted",
    ),
    "format": (f"{_SAME}[P01]", "reports/test_emf.py::test_where_an_event_goes_is_not_in_it"),
    "a dimension set that names an absent label": (
        f"{_SAME}[P03]",
        "reports/test_emf.py::test_an_empty_label_is_an_absent_one",
    ),
    "samples that no declaration selects": (
        f"{_CASES}::test_nothing_is_logged_that_is_no_metric",
        f"{_CASES}::test_same_log_fields_as_the_agent_if_asked",
        f"{_SAME}[P39]",
        f"{_SAME}[P40]",
        f"{_SAME}[P79]",
    ),
    "`prom_metric_type`": (
        f"{_SAME}[P34]",
        f"{_CASES}::test_nothing_is_logged_that_is_no_metric",
    ),
    "equal labels, different exposed times": (
        f"{_BETTER}[P66]",
        "digest/test_page.py::test_one_series_may_have_several_times",
    ),
    "the same labels from two targets in one millisecond": (f"{_BETTER}[P69]",),
    "a metric called `value`": (f"{_BETTER}[P63]",),
    "labels called `Version`, `Timestamp`, `CloudWatchMetrics`": (
        f"{_BETTER}[P62]",
        f"{_CASES}::test_labels_with_names_of_the_old_format_are_kept",
    ),
    "a metric and a label of one name": (f"{_SAME}[P61]",),
    "more than 100 metrics in an event": (
        f"{_BETTER}[P77]",
        f"{_CASES}::test_many_metrics_are_split_into_valid_events",
    ),
    "an event over 1 MB": (
        "emf/test_template.py::test_large_labels_split_by_bytes",
        "emf/test_template.py::test_labels_that_fill_an_event_leave_no_room",
        f"{_DELIVERY}::test_a_large_event",
    ),
    "`StorageResolution`": (
        "reports/test_emf.py::test_metrics_of_every_five_seconds",
        "digest/test_recipe.py::test_storage_resolution_is_said_by_the_first_selector",
    ),
    "units of DCGM metrics": (
        f"{_CASES}::test_known_units_are_the_agents",
        "reports/test_emf.py::test_units_that_cloudwatch_does_not_know",
    ),
}

DELIVERY: Mapping[str, tuple[str, ...]] = {
    "a sample too old or too new for CloudWatch": (
        f"{_DELIVERY}::test_a_time_that_cloudwatch_does_not_take",
    ),
    "an answer without a sequence token": (
        f"{_DELIVERY}::test_an_answer_without_a_sequence_token",
    ),
    "one log stream that fails": (f"{_DELIVERY}::test_a_stream_that_fails",),
    "throttling, 5xx, a broken network": (
        f"{_DELIVERY}::test_throttling",
        f"{_DELIVERY}::test_an_error_that_passes",
        "drill/test_outage.py::test_an_outage_that_there_is_room_for_costs_nothing",
    ),
    "no credentials, or such as have ended": (
        "drill/test_credentials.py::test_keys_that_end_are_replaced",
    ),
    "the process is killed meanwhile": (
        "drill/test_kill.py::test_a_kill_at_any_moment_loses_nothing_that_was_rendered",
    ),
    "SIGTERM": (
        "drill/test_term.py::test_a_spool_takes_what_is_not_accepted",
        "drill/test_term.py::test_without_a_spool_the_last_line_says_what_is_lost",
    ),
    "one event that CloudWatch refuses": ("drill/test_poison.py::test_a_bad_event_costs_itself",),
    "a log group of the class Infrequent Access": (
        "sinks/test_groups.py::test_nothing_is_sent_to_a_group_that_makes_no_metrics",
    ),
}

PROMETHEUS: Mapping[str, tuple[str, ...]] = {
    "null, scalars, bools, numbers, duplicate keys, base64, documents": (
        "config/test_compose.py::test_scalars_are_what_go_yaml_makes_of_them",
        "config/test_oracle.py::test_accepts_and_refuses_as_prometheus",
    ),
    "times, limits and formats of a job, else of `global`": (
        "config/test_jobs.py::test_times",
        "config/test_jobs.py::test_limits",
        "config/test_jobs.py::test_formats",
    ),
    "a page without a usable Content-Type": (
        "config/test_jobs.py::test_pages_that_do_not_say_what_they_are",
    ),
    "a refresh interval of 0": (
        "config/test_jobs.py::test_discoveries_by_http",
        "config/test_jobs.py::test_files_are_looked_at_every_five_minutes",
    ),
    "pods that have ended (phase `Succeeded`, `Failed`), role `pod`": (
        "discovery/test_join.py::test_pods_that_are_targets",
    ),
    "two pods with one address, role `pod`": (
        "discovery/test_join.py::test_two_pods_with_one_address",
        "discovery/test_join.py::test_pods_in_their_nodes_network",
    ),
    "`__meta_kubernetes_pod_controller_name` of a Deployment's pod": (
        "prom/kubernetes/test_workload.py::test_a_pod_belongs_to_what_somebody_created",
        "prom/kubernetes/test_workload.py::test_the_workload_is_two_labels",
    ),
    "a kind of object that may not be read, of several that a job needs": (
        "cli/test_kubernetes.py::test_what_the_account_may_not",
    ),
    "two keys of an object's labels that become one label name": (
        "prom/kubernetes/test_meta.py::test_keys_that_become_one_label_do_not_depend_on_chance",
    ),
    "a slice's port without a protocol": (
        "prom/kubernetes/test_group.py::test_a_slices_port_need_not_have_a_protocol",
    ),
    "a header that HTTP does not allow": (
        "config/test_access.py::test_headers_that_http_does_not_have_are_left_out",
    ),
}

HELD: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "## Configuration": CONFIGURATION,
    "## Samples": SAMPLES,
    "## Events": EVENTS,
    "## Delivery": DELIVERY,
    "## Prometheus": PROMETHEUS,
}
"""By the page's section."""
