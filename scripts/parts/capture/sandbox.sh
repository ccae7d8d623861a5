#!/usr/bin/env bash
# Turns a private namespace into a neutral CI runner and runs one project's capture.sh in it.
# Called by run.ts inside `unshare`; everything it mounts vanishes with the namespace.
# Arguments: project folder, red|green, github|jenkins|pipeline|plain, project name, warm|cold, out folder, node binary, checkout
set -euo pipefail
exec 2>&1 </dev/null
project_dir=$1 variant=$2 CI_STYLE=$3 PROJECT=$4 warmth=$5 out=$6 node=$7 checkout=$8
cache=${CAPTURE_CACHE:-/var/tmp/capture-cache}
capture_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
uid=1001

case $CI_STYLE in
  jenkins | pipeline) USER_NAME=jenkins JOB_HOME=/home/jenkins WORKSPACE=/home/jenkins/workspace/$PROJECT ;;
  *) USER_NAME=runner JOB_HOME=/home/runner WORKSPACE=/home/runner/work/$PROJECT/$PROJECT ;;
esac

stage() { # source, name: keep a path of the machine reachable as /mnt/<name> after the machine is hidden
  [ -e "$1" ] || return 0
  if [ -d "$1" ]; then mkdir -p "/mnt/$2"; else : >"/mnt/$2"; fi
  mount --bind "$1" "/mnt/$2"
}

show() { # name, target: bring a staged path to where a runner would have it
  [ -e "/mnt/$1" ] || return 0
  mkdir -p "$2"
  mount --bind "/mnt/$1" "$2"
}

python_prefix=$(python3 -c 'import sys; print(sys.base_prefix)' || true)
python_version=$(python3 -c 'import platform; print(platform.python_version())' || true)
rust_root=$(cd / && rustc --print sysroot 2>/dev/null || true)
go_root=$(go env GOROOT 2>/dev/null || true)

mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
stage "$project_dir" project
stage "$capture_dir" capture
stage "$out" out
stage "$node" node
case $python_prefix in /usr) ;; *) stage "$python_prefix" python ;; esac
case $rust_root in '' | /usr) ;; *) stage "$rust_root" rust ;; esac
case $go_root in '' | /usr/*) ;; *) stage "$go_root" go ;; esac
for kind in npm pip go-mod cargo-registry maven; do
  mkdir -p "$cache/$kind"
  chown "$uid:$uid" "$cache/$kind"
  stage "$cache/$kind" "cache-$kind"
done

machine_home=${HOME:-/root}
for hidden in /home /opt /tmp "$machine_home" "$(dirname "$checkout")"; do
  [ "$hidden" = / ] || mount -t tmpfs tmpfs "$hidden"
done
chmod 1777 /tmp

mkdir -p "$JOB_HOME" "$WORKSPACE"
show python "/opt/hostedtoolcache/Python/$python_version/x64"
show rust "$JOB_HOME/.rustup/toolchains/stable-x86_64-unknown-linux-gnu"
show go /opt/hostedtoolcache/go/x64
if [ "$warmth" = warm ]; then
  show cache-npm "$JOB_HOME/.npm"
  show cache-pip "$JOB_HOME/.cache/pip"
  show cache-go-mod "$JOB_HOME/go/pkg/mod"
  show cache-cargo-registry "$JOB_HOME/.cargo/registry"
fi

cat >/mnt/hosts <<HOSTS
127.0.0.1 localhost
203.0.113.10 packages.example.test
203.0.113.20 payments.example.test
HOSTS
mount --bind /mnt/hosts /etc/hosts
{ grep -v ":$uid:" /etc/passwd; echo "$USER_NAME:x:$uid:$uid::$JOB_HOME:/bin/bash"; } >/mnt/passwd
mount --bind /mnt/passwd /etc/passwd
hostname runner-1

cp -R /mnt/project/project/. "$WORKSPACE/"
[ "$variant" = red ] || cp -R /mnt/project/before/. "$WORKSPACE/"
for folder in "$JOB_HOME" "$JOB_HOME"/.[a-z]* "$JOB_HOME/go" "$JOB_HOME/go/pkg" "$JOB_HOME/work" "$JOB_HOME/workspace"; do
  [ ! -d "$folder" ] || chown "$uid:$uid" "$folder"
done
chown -R "$uid:$uid" "$(dirname "$WORKSPACE")"
mkdir -p "$JOB_HOME/work/_temp"
chown -R "$uid:$uid" "$JOB_HOME/work/_temp"

job_path=$JOB_HOME/.local/bin:/opt/hostedtoolcache/Python/$python_version/x64/bin
job_path+=:$JOB_HOME/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin
job_path+=:/opt/hostedtoolcache/go/x64/bin:$go_root/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
BASE_ENV=("LD_LIBRARY_PATH=/opt/hostedtoolcache/Python/$python_version/x64/lib" "PATH=$job_path" "HOME=$JOB_HOME" "USER=$USER_NAME" "LANG=C.UTF-8" "CI=true" "GOTOOLCHAIN=local" "GOFLAGS=-buildvcs=false")
# A machine may need its own certificate authority to reach a registry; its location is never printed by a healthy tool.
for name in NODE_EXTRA_CA_CERTS SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT; do
  [ -z "${!name:-}" ] || BASE_ENV+=("$name=${!name}")
done

. /mnt/capture/steps.sh
finish() { # copies what the run leaves behind; the exit code is the job's
  local code=$?
  set +e
  collect_report
  release_memory
  collect_versions
  exit "$code"
}
trap finish EXIT
cd "$WORKSPACE"
begin_job
set +e
set -u
. /mnt/project/capture.sh
end_job
