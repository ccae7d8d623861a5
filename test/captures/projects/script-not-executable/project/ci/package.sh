#!/bin/sh
set -e
mkdir -p dist
tar -czf dist/price-labels.tar.gz src
ls -l dist
