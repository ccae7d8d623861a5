#!/usr/bin/env bash
# Captures logs of CI systems whose own programs run on one machine: Buildkite's agent and TeamCity's plugin for Python tests.
# Needs Go, Python 3 and git; installs both programs into a temporary folder. Writes to test/log/sections/captured/.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
out="$root/test/log/sections/captured"
work=${CAPTURE_WORK:-$(mktemp -d)}
mkdir -p "$out" "$work/build" "$work/hooks" "$work/plugins" "$work/source" "$work/bin"

neutral() { sed -e "s#$work#/home/ci#g" -e 's/[0-9a-f]\{7\} ledger$/0a1b2c3 ledger/' -e "s/timestamp='[^']*'/timestamp='2024-01-01T00:00:00.000'/"; }

buildkite() {
  [ -x "$work/bin/agent" ] || GOBIN="$work/bin" go install github.com/buildkite/agent/v3@v3.73.1
  (
    cd "$work/source" && rm -rf .git && git init -q -b main && git config user.email ci@example.org && git config user.name ci
    printf '%s\n' 'echo "--- :package: Install"' 'echo "added 12 packages"' 'echo "--- Test"' 'echo "--- a/scale.c"' 'echo "+++ b/scale.c"' \
      'echo "error: the scale is not calibrated"' 'exit 3' > ci.sh
    chmod +x ci.sh && git add ci.sh && git commit -qm ledger
  )
  printf '#!/bin/bash\necho "leaving"\nexit 1\n' > "$work/hooks/pre-exit" && chmod +x "$work/hooks/pre-exit"
  rm -rf "$work/build" && mkdir "$work/build"
  BUILDKITE_AGENT_ACCESS_TOKEN= "$work/bin/agent" bootstrap --job 1 --command ./ci.sh --repository "$work/source" --commit HEAD --branch main \
    --build-path "$work/build" --hooks-path "$work/hooks" --plugins-path "$work/plugins" --agent one --organization acme --pipeline ledger \
    --pipeline-provider git --pty=false --bin-path "$work/bin" --git-clean-flags=-fxdq --artifact-upload-paths 'none/*' 2>&1 || true
}

teamcity() {
  [ -x "$work/python/bin/pytest" ] || { python3 -m venv "$work/python" && "$work/python/bin/pip" install -q pytest teamcity-messages==1.33; }
  mkdir -p "$work/tests" && cd "$work/tests"
  cat > test_ledger.py <<'PY'
import unittest


def total(values):
    return sum(values) - 1


def test_total():
    assert total([1, 2]) == 3, "the sum | of [lines]"


def test_empty():
    assert total([]) == -1


class LedgerTest(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(total([5]), 5)
PY
  "$work/python/bin/python" -m pytest --teamcity -q test_ledger.py 2>&1 || true
}

buildkite | neutral > "$out/buildkite.txt"
teamcity | neutral > "$out/teamcity-pytest.txt"
