#!/usr/bin/env bash
set -euo pipefail
mkdir -p fonts
for font in serif sans; do
  echo "Fetching $font"
  curl --fail --silent --show-error --retry 2 --retry-delay 1 --retry-all-errors \
    --output "fonts/$font.woff2" "https://fonts.posters.invalid/v1/$font.woff2"
done
