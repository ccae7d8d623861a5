#!/bin/sh
# faultline-upload FILE...: sends logs, and reports as *.xml. Needs curl, FAULTLINE_URL, FAULTLINE_TOKEN, REPOSITORY, PIPELINE and NUMBER;
# takes BRANCH, COMMIT, AUTHOR, URL, PULL_REQUEST, ATTEMPT (of the same number), and STARTED in seconds since 1970.
set -eu
json() {
  case $1 in
    '' | *"$FAULTLINE_TOKEN"*) printf null ;;
    *) printf '"%s"' "$(printf %s "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g')" ;;
  esac
}
started=$(date -u -d "@${STARTED:-x}" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || :)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cat > "$folder/metadata" <<JSON
{"repository": $(json "$REPOSITORY"), "pipeline": $(json "$PIPELINE"), "number": $(json "$NUMBER"), "branch": $(json "${BRANCH:-}"),
 "commit": $(json "${COMMIT:-}"), "author": $(json "${AUTHOR:-}"), "url": $(json "${URL:-}"), "startedAt": $(json "$started"),
 "pullRequest": ${PULL_REQUEST:-null}, "attempt": ${ATTEMPT:-1}}
JSON
for file; do
  shift
  [ ! -L "$file" ] || continue
  name=$(basename "$file")
  case $file in
    *.xml) [ ! -f "$file" ] || set -- "$@" -F "report=@\"$file\"" ;;
    *)
      if [ -f "$file" ]; then tail -c 50000000 "$file"; else echo "There is no $name: the job failed before it wrote one."; fi |
        gzip > "$folder/$name.gz" && set -- "$@" -F "log=@\"$folder/$name.gz\""
      ;;
  esac
done
status=$(printf 'header = "Authorization: Bearer %s"\n' "$FAULTLINE_TOKEN" |
  curl --config - --silent --show-error --max-time 60 --retry 3 --output "$folder/answer" --write-out '%{http_code}' \
    -F "metadata=<$folder/metadata" "$@" "$FAULTLINE_URL/api/builds")
case $status in
  2*) cat "$folder/answer" ;;
  *) echo "Faultline refused the build ($status): $(cat "$folder/answer")" >&2; exit 1 ;;
esac
