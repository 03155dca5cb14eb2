#!/bin/sh
# Verifies calls that Elasticron has signed. It needs openssl, od and tr.
#
#   verify.sh HEADER METHOD PATH KEYFILE [KEYFILE] < body
#
# exits with 0 if the call is genuine. PATH has the query, if there is one. The time of the call may be off by 300
# seconds, or by $TOLERANCE. While openssl runs, a list of the machine's processes shows the key.
set -eu
[ $# -ge 4 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
header=$1 method=$2 path=$3
shift 3

body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body"

t=$(printf %s "$header" | tr ',' '\n' | sed -n 's/^ *t=\([0-9][0-9]*\)$/\1/p')
[ -n "$t" ] || exit 1
off=$(($(date +%s) - t))
[ "${off#-}" -le "${TOLERANCE:-300}" ] || exit 1
escaped=$(printf %s "$path" | sed 's/\./%2E/g')

for file in "$@"; do
	key=$(cat "$file")
	hex=$(printf %s "${key%"$(printf '\r')"}" | od -An -v -tx1 | tr -d ' \n')
	want=$({ printf %s "$t.$method.$escaped."; cat "$body"; } |
		openssl dgst -sha256 -mac HMAC -macopt "hexkey:$hex" | sed 's/.*= *//')
	for part in $(printf %s "$header" | tr ',' ' '); do
		[ "$part" = "v1=$want" ] && exit 0
	done
done
exit 1
