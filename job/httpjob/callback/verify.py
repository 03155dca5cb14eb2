#!/usr/bin/env python3
"""Verifies calls that Elasticron has signed: see verify(). It needs nothing but Python 3.

As a program: verify.py HEADER METHOD PATH KEYFILE [KEYFILE] < body
exits with 0 if the call is genuine. PATH has the query, if there is one.
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
    """
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
        sys.exit(__doc__)
    _, header, method, path, *files = sys.argv
    sys.exit(0 if verify(header, method, path, sys.stdin.buffer.read(), [read_key(f) for f in files]) else 1)
