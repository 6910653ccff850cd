#!/usr/bin/env bash
# Shows that shares priced by Ray, one of them killed on its way, are the whole sweep:
#   pip install ray duckdb && docs/cluster/verify.sh target/release/specplan
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$(realpath "${1:-target/release/specplan}")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

flags=(--write csv --set 'sweep.batch={from=1,to=300,step=1}' --set 'sweep.context={from=256,to=8192,step=256}'
  --set 'sweep.k={from=1,to=12,step=1}' --set 'drafters.llama-1b.acceptance.iid.alpha={from=0.4,to=0.9,step=0.02}')

echo "== the whole sweep"
"$program" sweep "${flags[@]}" --out whole --quiet >/dev/null
mkdir shares
echo "== 7 shares on Ray, the third killed once"
python3 "$here/ray_sweep.py" --program "$program" --shares 7 --out "$folder/shares" --kill 3 -- "${flags[@]}" 2>ray.log ||
  { cat ray.log; exit 1; }
test -e shares/.killed-3

echo "== joined by cat, repeated headers skipped"
awk 'FNR > 1 || NR == 1' shares/founding-study.sweep.shard-*-of-7.csv >joined.csv
cmp joined.csv whole/founding-study.sweep.csv && echo "equal, byte for byte: $(wc -l <joined.csv) lines"

echo "== joined by DuckDB"
python3 - <<'PYTHON'
import duckdb

shares = "read_csv('shares/founding-study.sweep.shard-*-of-7.csv')"
whole = "read_csv('whole/founding-study.sweep.csv')"
count = lambda query: duckdb.sql(f"SELECT count(*) FROM ({query})").fetchall()[0][0]
rows = count(f"FROM {shares}")
assert rows == count(f"FROM {whole}") > 0
for one, other in [(shares, whole), (whole, shares)]:
    assert count(f"FROM {one} EXCEPT ALL FROM {other}") == 0
print(f"equal: {rows} rows")
print(duckdb.sql(f"SELECT context, max(speedup) AS best, arg_max(k, speedup) AS k FROM {shares} WHERE fits GROUP BY context ORDER BY context LIMIT 3"))
PYTHON
