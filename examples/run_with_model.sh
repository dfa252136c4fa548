#!/usr/bin/env bash
# usage: run_with_model.sh PROGRAM SOURCE_DIR. Runs an example with the small stories model and wants some text from it.
set -euo pipefail
golden=${RIDGE_GOLDEN:-$2/../shared/golden}
model=$golden/../models/stories260K.gguf
if [[ ! -r $model ]]; then
  echo "no model at $model: set RIDGE_GOLDEN to the folder of the reference data"
  exit 77
fi
output=$("$1" "$model" "Once upon a time" </dev/null)
printf '%s\n' "$output"
[[ -n $output ]] || { echo "the example printed nothing"; exit 1; }
