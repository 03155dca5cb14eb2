#!/bin/sh
# Verifies calls that Elasticron has signed. It needs openssl, od and tr.
#
#   verify.sh HEADER METHOD PATH KEYFILE [KEYFILE] < body
#
# exits with 0 if the call is genuine, with 1 if it is not, and with 2 if nobody can tell. PATH has the query, if there
# is one. The time of the call may be off by 300 seconds, or by $TOLERANCE. While openssl runs, a list of the machine's
# processes shows the key.
set -euf # f: what is in a header is no pattern of files
[ $# -ge 4 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
header=$1 method=$2 path=$3
shift 3

signed=$(mktemp)
trap 'rm -f "$signed"' EXIT

t=$(printf %s "$header" | tr ',' '\n' | sed -n 's/^ *t=\([0-9][0-9]*\)$/\1/p')
[ -n "$t" ] || exit 1
off=$(($(date +%s) - t))
[ "${off#-}" -le "${TOLERANCE:-300}" ] || exit 1
escaped=$(printf %s "$path" | sed 's/\./%2E/g')
printf %s "$t.$method.$escaped." >"$signed"
cat >>"$signed"

genuine=1
for file in "$@"; do
	key=$(cat "$file")
	hex=$(printf %s "${key%"$(printf '\r')"}" | od -An -v -tx1 | tr -d ' \n')
	[ ${#hex} -ge 32 ] || { echo "$file holds no key: want at least 16 bytes" >&2; exit 2; }
	want=$(openssl dgst -sha256 -mac HMAC -macopt "hexkey:$hex" <"$signed") || want=none
	want=${want##*= }
	case $want in # what is no sum would be easy to guess
	*[!0-9a-f]*) want= ;;
	esac
	[ ${#want} -eq 64 ] || { echo "openssl computes no signature" >&2; exit 2; }
	for part in $(printf %s "$header" | tr ',' ' '); do
		[ "$part" = "v1=$want" ] && genuine=0
	done
done
exit "$genuine"
