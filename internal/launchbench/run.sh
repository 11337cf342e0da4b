#!/usr/bin/env bash
# Compares launches from C, Python (cuda.core) and Go on a machine with a GPU, in one go. There need be no Go there: give the built program.
#
#	CGO_ENABLED=0 go build -o launchbench ./internal/launchbench    # where Go is
#	bash internal/launchbench/run.sh ./launchbench                  # where the GPU is, with this folder
#
# The programs run in turns, three times each; the table has the best of each time and its ratio to C.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 LAUNCHBENCH" >&2; exit 2; }
go=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=$(command -v "${CC:-cc}" || command -v gcc || command -v clang) || { echo "no C compiler; CC names one" >&2; exit 1; }
"$cc" -O2 -o "$work/launch_overhead" "$here/peers/launch_overhead.c" -ldl
for round in 1 2 3; do
	"$work/launch_overhead" "$here/launch.ptx"
	GOCUDA_DEVICE=driver "$go"
	"${PYTHON:-python3}" "$here/peers/launch_overhead.py" "$here/launch.ptx" || echo "the Python program failed" >&2
done | tee "$work/lines" >&2
awk -F'\t' '
	{ key = $3 "\t" $1 "\t" $2 }
	!(key in least) { order[++n] = key; least[key] = $4; middle[key] = $5; whole[key] = $6 }
	{ if ($4 < least[key]) least[key] = $4; if ($5 < middle[key]) middle[key] = $5; if ($6 < whole[key]) whole[key] = $6 }
	END {
		printf "\n%-7s %-10s %-22s %10s %10s %10s  %s\n", "kernel", "program", "way", "least ns", "middle ns", "whole ns", "ratio to C (least, middle, whole)"
		for (k = 1; k <= 2; k++) {
			kernel = k == 1 ? "empty" : "four"
			c = kernel "\tC\tcuLaunchKernel"
			for (i = 1; i <= n; i++) {
				split(order[i], p, "\t")
				if (p[1] != kernel) continue
				q = order[i]
				printf "%-7s %-10s %-22s %10d %10d %10d  %.3f %.3f %.3f\n", p[1], p[2], p[3], least[q], middle[q], whole[q], least[q] / least[c], middle[q] / middle[c], whole[q] / whole[c]
			}
		}
	}' "$work/lines"
