#!/usr/bin/env python3
"""Verifies calls that Elasticron has signed: see verify(). It needs nothing but Python 3.

As a program: verify.py HEADER METHOD PATH KEYFILE [KEYFILE] < body
exits with 0 if the call is genuine, with 1 if it is not, and with 2 if nobody can tell. PATH has the query, if there
is one.
"""

import hashlib
import hmac
import sys
import time


def verify(header, method, path, body, keys, now=None, tolerance=300):
    """Tells whether a call is genuine.

    header     value of the header Elasticron-Signature
    method     such as "POST"
    path       of the request line, with its query, as it was sent
    body       bytes
    keys       one key, or two while they change: bytes
    tolerance  seconds by which the time of the call may be off

    A key of less than 16 bytes is a ValueError, whichever key the call is signed with.
    """
    for number, key in enumerate(keys, 1):
        if len(key) < 16:
            raise ValueError(f"key {number} has {len(key)} bytes: want at least 16")
    parts = [part.strip().partition("=") for part in header.split(",")]
    t = "".join(value for name, _, value in parts if name == "t")
    given = [value for name, _, value in parts if name == "v1"]
    signed = f"{t}.{method}.{path.replace('.', '%2E')}.".encode() + body
    genuine = False
    for key in keys:
        want = hmac.new(key, signed, hashlib.sha256).hexdigest()
        for one in given:
            genuine |= hmac.compare_digest(one.encode(), want.encode())
    if not genuine or not t.isdigit():
        return False
    return abs((time.time() if now is None else now) - int(t)) <= tolerance


def read_key(name):
    with open(name, "rb") as file:
        return file.read().removesuffix(b"\n").removesuffix(b"\r")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    _, header, method, path, *files = sys.argv
    try:
        genuine = verify(header, method, path, sys.stdin.buffer.read(), [read_key(f) for f in files])
    except (OSError, ValueError) as fault:
        print(fault, file=sys.stderr)
        sys.exit(2)
    sys.exit(0 if genuine else 1)
