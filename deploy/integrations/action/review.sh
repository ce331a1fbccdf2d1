#!/usr/bin/env bash
# Reviews the tokens of $LIST that the commit $BASE_SHA has not, or all where it has no such list.
set -euo pipefail
options=(--fail-on "$FAIL_ON" --sarif "$SARIF")
base=$(mktemp)
trap 'rm -f "$base"' EXIT
if [[ -n ${BASE_SHA:-} ]] && git show "$BASE_SHA:$LIST" >"$base"; then
	options+=(--base "$base")
fi
assay review "${options[@]}" -- "$LIST" | tee -a "$GITHUB_STEP_SUMMARY"
