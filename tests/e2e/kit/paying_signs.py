# SPDX-License-Identifier: Apache-2.0
"""What the sandbox's bank signs, for tests that play it."""
import hashlib
import hmac
import os
import time


def bank_secret(server):
    with open(os.path.join(server.data, "sandbox.secret"), "rb") as file:
        return file.read().strip()


def signed(secret, method, path, body, at=None):
    """Headers of a request that the bank, or its client, has signed."""
    at = int(time.time()) if at is None else at
    text = f"{at}.{method}.{path}.{hashlib.sha256(body).hexdigest()}".encode()
    mac = hmac.new(hashlib.sha256(secret).digest(), text, hashlib.sha256).hexdigest()
    return {"Sandbox-Signature": f"t={at},v1={mac}", "Content-Type": "application/json"}
