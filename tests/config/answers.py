"""Jobs in the words of prometheus.yml, to compare with what Prometheus made of a file.

``tests/data/scrape_values.jsonl`` was recorded from ``config.Load`` of Prometheus 3.0.1: texts of
odd values, and of each the jobs (times in milliseconds, files below /etc/gpu, what is as it is by
default left out) or the refusal. What we leave out or cannot do was taken off the recording:
protobuf, HTTP/2, headers without a value.
"""

from typing import Any, TypeAlias

from cwgpu.plan.client import Authorization, BasicAuth, Client, OAuth2, Proxy, Secret, Tls
from cwgpu.plan.plan import HttpDiscovery, Job

Json: TypeAlias = dict[str, Any]


def job(made: Job) -> Json:
    """Write a job."""
    return _without_defaults(
        {
            "job_name": made.name,
            "scrape_interval": round(made.interval_s * 1000),
            "scrape_timeout": round(made.timeout_s * 1000),
            "metrics_path": made.metrics_path,
            "scheme": made.scheme,
            "params": {name: list(values) for name, values in made.params.items()},
            "honor_labels": made.honor_labels,
            "honor_timestamps": made.honor_timestamps,
            "enable_compression": made.enable_compression,
            "scrape_protocols": list(made.formats),
            "body_size_limit": made.body_size_limit_bytes,
            "sample_limit": made.sample_limit,
            "target_limit": made.target_limit,
            "label_limit": made.label_limit,
            "label_name_length_limit": made.label_name_length_limit,
            "label_value_length_limit": made.label_value_length_limit,
            "keep_dropped_targets": made.keep_dropped_targets,
            "legacy": made.legacy_names,
            "http_sd_configs": [_http(each) for each in made.http],
            "relabel_configs": len(made.relabel),
            "metric_relabel_configs": len(made.metric_relabel),
            **_client(made.client),
        },
        {
            "scrape_interval": 60_000,
            "scrape_timeout": 10_000,
            "metrics_path": "/metrics",
            "scheme": "http",
            "honor_timestamps": True,
            "enable_compression": True,
            "follow_redirects": True,
            "scrape_protocols": [
                "OpenMetricsText1.0.0",
                "OpenMetricsText0.0.1",
                "PrometheusText1.0.0",
                "PrometheusText0.0.4",
            ],
        },
    )


def _without_defaults(made: Json, defaults: Json) -> Json:
    return {key: value for key, value in made.items() if value != defaults.get(key, type(value)())}


def _http(made: HttpDiscovery) -> Json:
    found = {
        "url": made.url,
        "refresh_interval": round(made.refresh_s * 1000),
        **_client(made.client),
    }
    return _without_defaults(found, {"refresh_interval": 60_000, "follow_redirects": True})


def _client(made: Client) -> Json:
    headers = {
        name: {
            "texts": [each.text for each in values if not each.file],
            "files": [each.file for each in values if each.file],
        }
        for name, values in made.headers.items()
    }
    return {
        **_credentials(made),
        "tls_config": _tls(made.tls),
        **_proxy(made.proxy),
        "follow_redirects": made.follow_redirects,
        "http_headers": headers,
    }


def _credentials(made: Client) -> Json:
    match made.credentials:
        case BasicAuth() as basic:
            return {"basic_auth": [*_secret(basic.username), *_secret(basic.password)]}
        case Authorization() as given:
            return {"authorization": [given.type, *_secret(given.credentials)]}
        case OAuth2() as oauth2:
            found = {
                "client_id": oauth2.client_id,
                "client_secret": list(_secret(oauth2.client_secret)),
                "token_url": oauth2.token_url,
                "scopes": list(oauth2.scopes),
                "endpoint_params": dict(oauth2.endpoint_params),
                "tls_config": _tls(oauth2.tls),
                **_proxy(oauth2.proxy),
            }
            return {"oauth2": _without_defaults(found, {})}
    return {}


def _tls(made: Tls) -> Json:
    found = {
        "ca": list(_secret(made.ca)),
        "cert": list(_secret(made.cert)),
        "key": list(_secret(made.key)),
        "server_name": made.server_name,
        "insecure_skip_verify": made.insecure_skip_verify,
        "min_version": made.min_version,
        "max_version": made.max_version,
    }
    return _without_defaults(found, {key: ["", ""] for key in ("ca", "cert", "key")})


def _proxy(made: Proxy) -> Json:
    return {
        "proxy_url": made.url,
        "no_proxy": made.no_proxy,
        "proxy_from_environment": made.from_environment,
        "proxy_connect_header": {
            name: [each.text for each in values]
            for name, values in made.connect_headers.items()
            if values
        },
    }


def _secret(made: Secret | None) -> tuple[str, str]:
    return (made.text, made.file) if made else ("", "")
