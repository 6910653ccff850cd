#!/usr/bin/env bash
# Instructions for a row of a sweep's CSV, which no other load on the machine changes:
#   benches/instructions.sh target/release/specplan            counts them
#   benches/instructions.sh target/release/specplan --check    fails if they are more than 5 % above benches/instructions.txt
#   benches/instructions.sh target/release/specplan --accept   makes what it counts the figure to compare with
set -euo pipefail
accepted="$(cd "$(dirname "$0")" && pwd)/instructions.txt"
program="$(realpath "${1:?the program}")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# 64 contexts x $1 batches x 16 alphas x 8 k.
counted() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" sweep --threads 1 --quiet --write none --format csv \
    --set "sweep.batch={from=1,to=$1,step=1}" --set 'sweep.context={from=256,to=16384,step=256}' \
    --set 'drafters.llama-1b.acceptance.iid.alpha={from=0.5,to=0.95,step=0.03}' --set 'sweep.k={from=1,to=8,step=1}' \
    2>&1 >rows | sed -n 's/.*Collected : //p'
}

# The difference of two sizes leaves out what every run costs.
few=$(counted 2) && few_rows=$(wc -l <rows)
many=$(counted 18) && many_rows=$(wc -l <rows)
each=$(((many - few) / (many_rows - few_rows)))
echo "$each instructions for each of $((many_rows - few_rows)) rows"

case "${2:-}" in
  --accept) echo "$each" >"$accepted" ;;
  --check)
    due=$(<"$accepted")
    if ((each * 100 > due * 105)); then
      echo "more than 5 % above $due of benches/instructions.txt: find what costs them, or --accept and say why" >&2
      exit 1
    fi
    echo "at most 5 % above $due: fine"
    ;;
esac
