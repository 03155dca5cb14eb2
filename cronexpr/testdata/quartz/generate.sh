#!/bin/sh
# Makes the golden files of this folder again, from Quartz itself. Needs a JDK (17 or later), mvn
# and gzip. The same seed and the same time zone data give the same bytes.
#
#	./generate.sh [seed]
set -eu
cd "$(dirname "$0")"
seed=${1:-20240310}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mvn -q -B dependency:copy-dependencies -DoutputDirectory="$work/lib"
javac -d "$work/classes" -cp "$work/lib/*" ./*.java
java -cp "$work/classes:$work/lib/*" Generate times "$seed" | gzip -n -9 > "$work/times.tsv.gz"
java -cp "$work/classes:$work/lib/*" Generate nearmisses "$seed" | gzip -n -9 > "$work/nearmisses.tsv.gz"
mv "$work/times.tsv.gz" "$work/nearmisses.tsv.gz" .
