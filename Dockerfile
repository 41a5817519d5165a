# Two stages: the first has build tools and a package index, the second only what runs.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY requirements requirements
RUN python -m venv /opt/cwgpu && /opt/cwgpu/bin/pip install --no-cache-dir --require-hashes -r requirements/run.txt
RUN python -m venv /opt/build && /opt/build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY config config
COPY cwgpu cwgpu
RUN /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /opt/wheel .
RUN /opt/cwgpu/bin/pip install --no-cache-dir --no-deps --no-index /opt/wheel/*.whl

FROM python:3.11-slim-bookworm
COPY --from=build /opt/cwgpu /opt/cwgpu
# Mount your own over it; this one needs only CLUSTER_NAME and DCGM_EXPORTER_URL.
COPY --from=build /src/config/cwagent.json /etc/cwagentconfig/cwagent.json
# Python's own library comes without bytecode here, and nobody may write any later: each start would
# compile 200 modules, which takes a second. These are, with all that they import, what an agent is.
RUN /opt/cwgpu/bin/python -c "import cwgpu.agent.contend, cwgpu.agent.watches, cwgpu.cli.main, cwgpu.cli.start, cwgpu.config.review, cwgpu.discovery.compose, cwgpu.sinks.cloudwatch, cwgpu.sinks.session, cwgpu.spool.directory"
ENV PATH=/opt/cwgpu/bin:$PATH PYTHONUNBUFFERED=1 RUN_IN_CONTAINER=True
# No name is needed; a number lets Kubernetes prove runAsNonRoot.
USER 65532:65532
ENTRYPOINT ["cwgpu"]
CMD ["run"]
