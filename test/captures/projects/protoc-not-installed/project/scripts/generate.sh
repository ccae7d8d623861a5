#!/usr/bin/env bash
set -euo pipefail
mkdir -p gen/python
echo "Generating Python messages"
for proto in proto/*.proto; do
  echo "  $proto"
  protoc --proto_path=proto --python_out=gen/python "$proto"
done
