"""Where targets come from: the discovery keys of prometheus.yml.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#static_config and below
"""

from typing import Annotated

from pydantic import Field

from cwgpu.config.client import Client
from cwgpu.config.field import Duration, FileText, Flag, Free, Listed, Mapped, Section, Text
from cwgpu.config.shape import Model, Use

# Prometheus' own defaults, discovery/file/file.go and discovery/http/http.go.
FILE_REFRESH_MS = 5 * 60 * 1000
HTTP_REFRESH_MS = 60 * 1000


class StaticConfig(Model):
    """One entry of ``static_configs``."""

    targets: Listed[Text] = Field(
        [],
        description=(
            "Addresses, `host:port`. Under `cwgpu.scrape_configs` `${NAME}` is taken from the "
            "environment; a list with commas gives several targets, nothing gives none."
        ),
    )
    labels: Mapped[Text] = Field(
        {},
        description=(
            "Labels of these targets. Under `cwgpu.scrape_configs` `${NAME}` in a value is taken "
            "from the environment."
        ),
    )


class FileDiscovery(Model):
    """One entry of ``file_sd_configs``."""

    files: Listed[FileText] = Field(
        [],
        description=(
            "Files of target groups, .json, .yml or .yaml; the last part of a path may hold a "
            "star. A relative path begins at the directory of the file that names it."
        ),
    )
    refresh_interval: Duration = Field(
        FILE_REFRESH_MS, description="How often the files are looked at, at least. Default 5m."
    )


class HttpDiscovery(Client):
    """One entry of ``http_sd_configs``."""

    url: Text = Field("", description="Where the target groups are. Required.")
    refresh_interval: Duration = Field(
        HTTP_REFRESH_MS, description="How often they are fetched. Default 1m."
    )


class Namespaces(Model):
    """``namespaces`` of a Kubernetes discovery."""

    own_namespace: Flag = Field(default=False, description="Look in the pod's own namespace.")
    names: Listed[Text] = Field([], description="Look in these; empty for all.")


class Selector(Model):
    """One entry of ``selectors`` of a Kubernetes discovery."""

    role: Text = Field("", description="Kind of objects that it selects.")
    label: Text = Field("", description="A label selector as kubectl takes it.")
    field: Text = Field("", description="A field selector as kubectl takes it.")


class AttachMetadata(Model):
    """``attach_metadata`` of a Kubernetes discovery."""

    node: Flag = Field(default=False, description="Add the labels of a pod's node.")


class KubernetesDiscovery(Client):
    """One entry of ``kubernetes_sd_configs``."""

    role: Text = Field("", description="pod, service, endpoints, endpointslice, node or ingress.")
    api_server: Text = Field("", description="The API server; default: that of our own cluster.")
    kubeconfig_file: FileText = Field("", description="A kubeconfig to take server and user from.")
    namespaces: Section[Namespaces] = Field(None, description="Where to look; default: all.")
    selectors: Listed[Selector] = Field([], description="Leave the choice to the API server.")
    attach_metadata: Section[AttachMetadata] = Field(None, description="More labels.")
    node_local: Flag = Field(
        default=False,
        description=(
            "Only in `cwgpu.scrape_configs`, not in Prometheus. true: of role pod, only pods of "
            "the node that NODE_NAME names in the environment. Default false."
        ),
    )


class Discoveries(Model):
    """Every discovery key of a scrape configuration."""

    static_configs: Listed[StaticConfig] = Field([], description="Targets written out here.")
    file_sd_configs: Listed[FileDiscovery] = Field([], description="Targets listed in files.")
    http_sd_configs: Listed[HttpDiscovery] = Field(
        [], description="Targets listed by a web service."
    )
    kubernetes_sd_configs: Listed[KubernetesDiscovery] = Field(
        [], description="Targets found through the Kubernetes API."
    )
    azure_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Azure VMs.")
    consul_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Consul.")
    digitalocean_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(
        None, description="DigitalOcean."
    )
    dns_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="DNS records.")
    docker_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Docker.")
    dockerswarm_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(
        None, description="Docker Swarm."
    )
    ec2_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="EC2 instances.")
    eureka_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Eureka.")
    gce_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Google Compute.")
    hetzner_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Hetzner.")
    ionos_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="IONOS.")
    kuma_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Kuma.")
    lightsail_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Lightsail.")
    linode_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Linode.")
    marathon_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Marathon.")
    nerve_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Nerve.")
    nomad_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Nomad.")
    openstack_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="OpenStack.")
    ovhcloud_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="OVHcloud.")
    puppetdb_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="PuppetDB.")
    scaleway_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Scaleway.")
    serverset_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Serversets.")
    triton_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Triton.")
    uyuni_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Uyuni.")
    vultr_sd_configs: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Vultr.")
