#!/usr/bin/env bash
# Examine a candidate in a build: run a suite, compare it with the baseline, and leave reports.
#
# Settings, all by environment variables:
#   PROCTOR_SUITE      the suite or run file
#   PROCTOR_ARGS       more options of `proctor run`, quoted as in a shell
#   PROCTOR_GATES      gates, one on each line
#   PROCTOR_BASELINE   @baseline (the default), an exported .jsonl file, or nothing
#   PROCTOR_REPORT     the folder for reports [proctor-report]
#   PROCTOR_PIN        main: a passing build of the main branch becomes the baseline; else nothing does
#   PROCTOR_MAIN       the name of the main branch [CI_DEFAULT_BRANCH, else that of origin, else main]
#   CI_COMMIT_BRANCH   the branch of this build, where GITHUB_REF_NAME does not tell it
# On GitHub, GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are written to. The exit code is that of `proctor run`.
set -uo pipefail

suite=${PROCTOR_SUITE:?PROCTOR_SUITE names no suite}
report=${PROCTOR_REPORT:-proctor-report}
against=${PROCTOR_BASELINE-@baseline}
mkdir -p "$report" || exit 2
rm -f "$report"/{run.json,junit.xml,summary.md,report.html}

words=$(printf '%s' "${PROCTOR_ARGS:-}" | xargs -r -n1 printf '%s\n') || {
  echo "PROCTOR_ARGS is not quoted as in a shell" >&2
  exit 2
}
options=()
while IFS= read -r word; do
  [ -z "$word" ] || options+=("$word")
done <<<"$words"
while IFS= read -r gate; do
  [ -z "${gate//[[:space:]]/}" ] || options+=(--gate "$gate")
done <<<"${PROCTOR_GATES:-}"
case $against in
  "") ;;
  @*) options+=(--against "$against") ;;
  *)
    if [ -f "$against" ]; then
      options+=(--against "$against")
    else
      echo "the baseline $against is not there: nothing is compared" >&2
    fi
    ;;
esac
if [ -n "${GITHUB_RUN_ID:-}" ]; then
  options+=(--link "Build=${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}/actions/runs/$GITHUB_RUN_ID")
fi

proctor run "$suite" "${options[@]}" \
  --junit "$report/junit.xml" --markdown "$report/summary.md" --json >"$report/run.json"
code=$?

# One run is an object of its own; several are a list.
runs=$(python3 - "$report/run.json" <<'PYTHON'
import json
import sys

try:
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
except (OSError, ValueError):
    data = {}
if "error" in data:
    print(data["error"]["message"], file=sys.stderr)
for run in data.get("runs", [data]):
    if "run" in run:
        verdict = run.get("against", {}).get("verdict", "none")
        rate = run["totals"]["rate"]
        print(run["run"]["id"], "none" if rate is None else f"{rate:.4f}", verdict)
PYTHON
)

result=incomplete
case $code in
  0) result=passed ;;
  1) result=missed ;;
  2) result=refused ;;
esac
last="" rate="" verdict=""
while read -r id one_rate one_verdict; do
  [ -n "$id" ] || continue
  proctor report "$id" || true
  last=$id rate=$one_rate verdict=$one_verdict
done <<<"$runs"

if [ -n "$last" ]; then
  proctor export "$last" --out "$report/report.html" || true
fi
if [ ! -s "$report/summary.md" ]; then
  printf '## Proctor\n\nThe suite could not be run (exit code %s); the log says why.\n' "$code" >"$report/summary.md"
fi
branch=${GITHUB_REF_NAME:-${CI_COMMIT_BRANCH:-}}
event=${GITHUB_EVENT_NAME:-push}
main=${PROCTOR_MAIN:-${CI_DEFAULT_BRANCH:-}}
if [ -z "$main" ]; then
  main=$(git symbolic-ref --quiet --short refs/remotes/origin/HEAD 2>/dev/null) || main=origin/main
  main=${main#origin/}
fi
if [ "${PROCTOR_PIN:-main}" = main ] && [ "$code" = 0 ] && [ -n "$last" ] && [ "$event" != pull_request ]; then
  if [ "$branch" = "$main" ]; then
    proctor baseline "$last" || code=$?
  else
    echo "no baseline is pinned: this is the branch '$branch', and the main branch is '$main' (PROCTOR_MAIN sets it)" >&2
  fi
fi

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$report/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "result=$result"
    echo "exit-code=$code"
    echo "run=$last"
    echo "rate=$rate"
    echo "verdict=$verdict"
    echo "summary=$report/summary.md"
    echo "junit=$report/junit.xml"
    echo "report=$report"
  } >>"$GITHUB_OUTPUT"
fi
exit "$code"
