#!/bin/bash
set -eu
source="$1"
cp "$source"/*.csv data/
