#!/usr/bin/env bash
# Builds the site of docs/ into site/build. The programs for that are those of requirements.txt, in a virtual
# environment of their own in the user's cache folder, which is made on first use.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-python3}

# need tells what is missing, or installs it where the tests would install servers, too.
need() {
	if [ "$(id -u)" = 0 ] && { [ -n "${CI:-}" ] || [ "${ELASTICRON_INSTALL:-}" = 1 ]; } && command -v apt-get >/dev/null; then
		apt-get update -q >&2
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3 python3-venv >&2
		return
	fi
	echo "make site needs $1. On Debian: apt-get install python3 python3-venv" >&2
	exit 1
}

command -v "$python" >/dev/null || need "Python 3.10 or newer, and there is no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
	echo "make site needs Python 3.10 or newer; this is $("$python" --version)" >&2
	exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || need "the modules venv and ensurepip of $python"

# One environment for each list and each Python. It gets its name when it is complete, so that a build that was cut
# short leaves none that looks whole, and two builds at once do not meet.
key=$({ cat requirements.txt; "$python" -VV; } | "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:16])')
cache=${XDG_CACHE_HOME:-$HOME/.cache}/elasticron
venv=$cache/site-$key
if [ ! -d "$venv" ]; then
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/site-new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	"$python" -m venv "$new/venv"
	"$new/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.txt
	"$python" -c 'import os, sys; os.rename(*sys.argv[1:])' "$new/venv" "$venv" 2>/dev/null || [ -d "$venv" ] # another build was first
	rm -rf "$new"
	trap - EXIT
fi

# The theme would announce its successor, which this build does not use.
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --strict --quiet --clean --config-file mkdocs.yml
