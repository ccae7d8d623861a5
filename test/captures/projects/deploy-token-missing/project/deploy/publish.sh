#!/usr/bin/env bash
set -euo pipefail
echo "Publishing site to ${SITE_ENVIRONMENT}"
find site -type f -printf '  %P %s bytes\n' | sort
: "${DEPLOY_TOKEN:?DEPLOY_TOKEN is not set; add it to the repository secrets}"
curl --fail --header "Authorization: Bearer $DEPLOY_TOKEN" --upload-file site.tar.gz https://deploy.example.test/v1/sites
