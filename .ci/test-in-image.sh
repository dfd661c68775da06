#!/usr/bin/env bash
# Runs tests inside an image, against what is installed there:
#   .ci/test-in-image.sh IMAGE [pytest's arguments]
# ENGINE names the program that runs containers; docker unless said otherwise. AS is the uid, not
# root's by itself: most tests look into what their agents wrote, which root's agents keep hidden.
set -euo pipefail
image=$1
shift
cd "$(dirname "$0")/.."
# What git knows of, as it is now; the sources that the tests import are those of the image.
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --ignore-failed-read -cf - |
  "${ENGINE:-docker}" run --rm --interactive --user "${AS:-1001}" --env HOME=/tmp --workdir /tmp --entrypoint /bin/sh "$image" -ec '
    mkdir repo && tar -xf - -C repo --no-same-owner && cd repo
    uv venv --quiet --python /opt/gradegate/bin/python /tmp/tests
    uv pip install --quiet --python /tmp/tests/bin/python --require-hashes -r requirements/dev.lock
    echo /opt/gradegate/app > "$(echo /tmp/tests/lib/python3.*/site-packages)/gradegate.pth"
    ln -s /opt/gradegate/app/bin/gradegate /usr/local/bin/uv /tmp/tests/bin/
    /tmp/tests/bin/python -c "import gradegate; assert gradegate.__path__ == [\"/opt/gradegate/app/gradegate\"]"
    exec /tmp/tests/bin/python -m pytest -q -p no:cacheprovider "$@"
  ' sh "$@"
