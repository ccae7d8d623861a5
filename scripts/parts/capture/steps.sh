# The vocabulary of a capture.sh. Sourced by sandbox.sh, which sets CI_STYLE, PROJECT, WORKSPACE, JOB_HOME and BASE_ENV.
#   step 'Name' 'commands'   one shell step; the job ends with the first that fails, as on a CI server
#   STEP_ENV=(NAME=value …)  environment of the steps that follow
#   STEP_DIR=sub/folder      working directory of the steps that follow
#   isolate                  steps that follow see only loopback, with packages.example.test and payments.example.test on it
#   upstream 'behaviour'     starts upstream.ts as packages.example.test (after isolate)
#   small_disk path size     mounts a tmpfs of that size over a folder of the workspace
#   limit_memory bytes       steps that follow live in a memory control group, as in a container
#   KEEP_GOING=yes           steps that follow run although one failed, as with `if: always()` or catchError
#   RUN_LIMIT=seconds        steps that follow are canceled after that time
#   skipped_stage 'Name'     what a Pipeline prints for a stage after a failure
#   quietly 'commands'       prepares the machine before the job; shows nothing unless it fails
#   checkout_step            what the checkout action prints
#   red_then_green after     runs the function `job`, then once more with the files of before/; each is followed by `after` and a separator
STEP_ENV=()
STEP_DIR=.
namespace_pid=
memory_group=
step_number=0
KEEP_GOING=
RUN_LIMIT=
first_failure=0

as_user() {
  local enter=()
  [ -z "$namespace_pid" ] || enter=(nsenter --net --target "$namespace_pid")
  [ -z "$memory_group" ] || echo "$BASHPID" >"$memory_group/cgroup.procs"
  exec ${enter[@]+"${enter[@]}"} setpriv --reuid 1001 --regid 1001 --clear-groups --inh-caps=-all \
    env -i "${BASE_ENV[@]}" ${STEP_ENV[@]+"${STEP_ENV[@]}"} "$@"
}

step() {
  local name=$1 commands=$2 script shell=(bash -e) code
  step_number=$((step_number + 1))
  case $CI_STYLE in
    github) script=$JOB_HOME/work/_temp/$(cat /proc/sys/kernel/random/uuid).sh ;;
    jenkins | pipeline) script=/tmp/jenkins$((RANDOM * 32768 * 8 + RANDOM)).sh shell=(/bin/sh -xe) ;;
    plain) script=/tmp/step-$step_number.sh ;;
  esac
  printf '%s\n' "$commands" >"$script"
  chmod a+r "$script"
  announce "$name" "$commands" "$script"
  (cd "$WORKSPACE/$STEP_DIR" && as_user ${RUN_LIMIT:+timeout "$RUN_LIMIT"} "${shell[@]}" "$script")
  code=$?
  [ "$CI_STYLE" != pipeline ] || end_stage "$code"
  [ "$code" = 0 ] || fail_job "$code"
}

end_stage() {
  echo '[Pipeline] }'
  [ "$1" = 0 ] || [ -z "$KEEP_GOING" ] || echo "ERROR: script returned exit code $1"
  [ -z "$KEEP_GOING" ] || printf '%s\n' '[Pipeline] // catchError' '[Pipeline] }'
  echo '[Pipeline] // stage'
}

skipped_stage() {
  printf '%s\n' '[Pipeline] stage' "[Pipeline] { ($1)" "Stage \"$1\" skipped due to earlier failure(s)" '[Pipeline] getContext' \
    '[Pipeline] }' '[Pipeline] // stage'
}

end_pipeline() { # exit code
  printf '%s\n' '[Pipeline] stage' '[Pipeline] { (Declarative: Post Actions)' '[Pipeline] junit' 'Recording test results' \
    '[Checks API] No suitable checks publisher found.' '[Pipeline] archiveArtifacts' 'Archiving artifacts' '[Pipeline] }' \
    '[Pipeline] // stage' '[Pipeline] }' '[Pipeline] // node' '[Pipeline] End of Pipeline'
  [ "$1" = 0 ] || [ -n "$KEEP_GOING" ] || echo "ERROR: script returned exit code $1"
  if [ "$1" = 0 ]; then echo 'Finished: SUCCESS'; else echo 'Finished: FAILURE'; fi
}

announce() {
  local line pair
  case $CI_STYLE in
    github)
      echo "##[group]Run ${2%%$'\n'*}"
      while IFS= read -r line; do printf '\033[36;1m%s\033[0m\n' "$line"; done <<<"$2"
      echo 'shell: /usr/bin/bash -e {0}'
      if [ ${#STEP_ENV[@]} -gt 0 ]; then
        echo 'env:'
        for pair in "${STEP_ENV[@]}"; do echo "  ${pair%%=*}: ${pair#*=}"; done
      fi
      echo '##[endgroup]'
      ;;
    jenkins) echo "[$PROJECT] \$ /bin/sh -xe $3" ;;
    pipeline)
      printf '%s\n' '[Pipeline] stage' "[Pipeline] { ($1)"
      [ -z "$KEEP_GOING" ] || printf '%s\n' '[Pipeline] catchError' '[Pipeline] {'
      echo '[Pipeline] sh'
      ;;
    plain) while IFS= read -r line; do echo "\$ $line"; done <<<"$2" ;;
  esac
}

begin_job() {
  case $CI_STYLE in
    jenkins) printf '%s\n' 'Started by an SCM change' "Building in workspace $WORKSPACE" ;;
    pipeline)
      printf '%s\n' 'Started by an SCM change' '[Pipeline] Start of Pipeline' '[Pipeline] node' \
        "Running on agent-1 in $WORKSPACE" '[Pipeline] {'
      ;;
  esac
}

end_job() {
  case $CI_STYLE in
    jenkins) [ "$first_failure" != 0 ] || echo 'Finished: SUCCESS' ;;
    pipeline) end_pipeline "$first_failure" ;;
  esac
  exit "$first_failure"
}

fail_job() {
  [ "$first_failure" != 0 ] || first_failure=$1
  if [ "$1" = 124 ] && [ -n "$RUN_LIMIT" ]; then
    echo '##[error]The operation was canceled.'
  elif [ "$CI_STYLE" = github ]; then
    echo "##[error]Process completed with exit code $1."
  fi
  [ -z "$KEEP_GOING" ] || return 0
  case $CI_STYLE in
    jenkins) printf "Build step 'Execute shell' marked build as failure\nFinished: FAILURE\n" ;;
    pipeline) end_pipeline "$1" ;;
  esac
  exit "$1"
}

isolate() {
  unshare --net sleep 3600 &
  namespace_pid=$!
  sleep 0.3
  nsenter --net --target "$namespace_pid" sh -c \
    'ip link set lo up; ip address add 203.0.113.10/32 dev lo; ip address add 203.0.113.20/32 dev lo'
}

upstream() {
  nsenter --net --target "$namespace_pid" /mnt/node /mnt/capture/upstream.ts "$1" >/dev/null 2>&1 &
  sleep 1
}

small_disk() {
  mkdir -p "$WORKSPACE/$1"
  mount -t tmpfs -o "size=$2,uid=1001,gid=1001" tmpfs "$WORKSPACE/$1"
}

limit_memory() {
  if [ -d /sys/fs/cgroup/memory ]; then
    memory_group=/sys/fs/cgroup/memory/capture-$PROJECT
    mkdir -p "$memory_group"
    echo "$1" >"$memory_group/memory.limit_in_bytes"
  else
    memory_group=/sys/fs/cgroup/capture-$PROJECT
    mkdir -p "$memory_group"
    echo "$1" >"$memory_group/memory.max"
    echo 0 >"$memory_group/memory.swap.max" || true
  fi
}

release_memory() {
  [ -z "$memory_group" ] || rmdir "$memory_group"
  memory_group=
}

collect_report() {
  local report
  [ -f /mnt/out/report-path ] || return 0
  report=$(compgen -G "$WORKSPACE/$(cat /mnt/out/report-path)" | head -n 1)
  [ -z "$report" ] || cp "$report" /mnt/out/report.xml
}

collect_versions() { # out/tools holds "name<TAB>command" lines; answers go to out/versions, never to the log
  local name command
  [ -f /mnt/out/tools ] || return 0
  STEP_ENV=()
  while IFS=$'\t' read -r name command; do
    printf '%s\t%s\n' "$name" "$( (cd "$WORKSPACE" && as_user bash -c "$command" 2>&1 </dev/null) | tr '\n\t' '  ' | head -c 300)"
  done </mnt/out/tools >/mnt/out/versions
}

quietly() {
  (cd "$WORKSPACE" && as_user bash -e -c "$1") >/tmp/setup.log 2>&1 || { cat /tmp/setup.log; rm -f /mnt/out/tools; exit 97; }
  rm -f /tmp/setup.log
}

red_then_green() {
  local code
  (job)
  code=$?
  "$1"
  printf '\x1e%s\n' "$code"
  [ -d /mnt/project/before ] || exit "$code"
  sleep 1 # caches that compare whole seconds must see a change
  cp -R /mnt/project/before/. "$WORKSPACE/"
  chown -R 1001:1001 "$WORKSPACE"
  (job)
  code=$?
  "$1"
  printf '\x1e%s\n' "$code"
  exit 0
}

checkout_step() {
  printf '%s\n' '##[group]Run actions/checkout@v4' 'with:' "  repository: example/$PROJECT" '  token: ***' '  ssh-strict: true' \
    '  persist-credentials: true' '  clean: true' '  fetch-depth: 1' '  show-progress: true' '##[endgroup]' "Syncing repository: example/$PROJECT" \
    '##[group]Getting Git version info' "Working directory is '$WORKSPACE'" '[command]/usr/bin/git version' 'git version 2.49.0' '##[endgroup]' \
    '##[group]Fetching the repository' \
    '[command]/usr/bin/git -c protocol.version=2 fetch --no-tags --prune --depth=1 origin +5d1c0ffee0a1:refs/remotes/origin/main' \
    "From https://github.com/example/$PROJECT" ' * [new ref]         5d1c0ffee0a1 -> origin/main' '##[endgroup]' \
    '##[group]Checking out the ref' '[command]/usr/bin/git checkout --progress --force -B main refs/remotes/origin/main' \
    "Switched to a new branch 'main'" "branch 'main' set up to track 'origin/main'." '##[endgroup]'
}

cleanup_lines() {
  printf '%s\n' 'Post job cleanup.' '[command]/usr/bin/git version' 'git version 2.49.0' \
    "Temporarily overriding HOME='$JOB_HOME/work/_temp/9c1e' before making global git config changes" \
    "[command]/usr/bin/git config --global --add safe.directory $WORKSPACE" \
    '[command]/usr/bin/git config --local --name-only --get-regexp core\.sshCommand' \
    'Cleaning up orphan processes'
}
