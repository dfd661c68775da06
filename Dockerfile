# A local base can stand in for it: --build-arg BASE=localhost/python:3.13 (make test-container).
# The release job builds on the digest that the tag has then, and writes it here on its commit.
ARG BASE=python:3.13.9-slim-trixie

FROM ${BASE} AS dependencies
# vertex.lock is runtime.lock with Google's evaluation service; `runtime` makes a smaller image.
ARG EXTRAS=vertex
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore \
    UV_NO_CACHE=1 \
    UV_LINK_MODE=copy \
    UV_PYTHON_DOWNLOADS=never \
    UV_SYSTEM_CERTS=1
COPY requirements/uv.lock /src/requirements/
RUN python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install --require-hashes -r /src/requirements/uv.lock \
    && /opt/uv/bin/uv venv --python "$(command -v python3)" /opt/gradegate
COPY requirements/runtime.lock requirements/vertex.lock /src/requirements/
# The large libraries bring their own tests along, which nobody runs here: 60 MB.
# The .pth file leads from the dependencies to our own sources, which come in a layer of their own.
RUN /opt/uv/bin/uv pip install --python /opt/gradegate/bin/python --require-hashes --compile-bytecode \
        -r "/src/requirements/${EXTRAS}.lock" \
    && site="$(/opt/gradegate/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    && find "${site}/scipy" "${site}/numpy" "${site}/google/genai" -type d -name tests -prune -exec rm -r {} + \
    && echo /opt/gradegate/app > "${site}/gradegate.pth"

FROM dependencies AS app
COPY pyproject.toml README.md LICENSE /src/
COPY action_src /src/action_src
COPY templates /src/templates
RUN /opt/uv/bin/uv pip install --python /opt/gradegate/bin/python --no-deps --compile-bytecode \
        --target /opt/gradegate/app /src \
    && /opt/gradegate/app/bin/gradegate --help > /dev/null

# What changes least comes first: Debian's packages, uv, the dependencies, our own few files.
FROM ${BASE}
# git reads both sides; tini forwards the runner's signals and reaps what agents leave behind.
# Debian removes old versions from its archive, so a pinned one would stop building.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/ldconfig/* /var/log/apt /var/log/dpkg.log \
    && git config --system --add safe.directory '*' \
    && useradd --no-log-init --user-group --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin agent
COPY --from=dependencies /opt/uv/bin/uv /usr/local/bin/uv
COPY --from=dependencies /opt/gradegate /opt/gradegate
COPY --from=app /opt/gradegate/app /opt/gradegate/app
# The certificates of the system, so that a runner behind a proxy can mount its own.
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_SYSTEM_CERTS=1
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="gradegate" \
      org.opencontainers.image.description="Grade the agent, gate the merge: ADK evaluation criteria as a pull-request check" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
HEALTHCHECK NONE
# No USER: the runner's workspace and its output files belong to root.
# No -g for tini: a cancelled job is gradegate's to wind up, agents included.
ENTRYPOINT ["/usr/bin/tini", "--", "/opt/gradegate/app/bin/gradegate", "action"]
