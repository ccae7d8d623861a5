#!/bin/bash
set -eu
target=$1
for file in $(ls data); do
  cp data/$file $target
done
cd $target
sha256sum * > SHA256SUMS
