"""What the stand-ins share: objects made of JSON, and requests that are asked again."""

import json
import time
import urllib.error
import urllib.request


class Value:
    """A JSON object whose members are attributes; one that is absent is None."""

    def __init__(self, members):
        self.members = members

    def __getattr__(self, name):
        return self.members.get(name)


def wrap(value):
    if isinstance(value, dict):
        return Value({name: wrap(member) for name, member in value.items()})
    if isinstance(value, list):
        return [wrap(element) for element in value]
    return value


def unwrap(value):
    return {name: member for name, member in value.members.items() if member is not None}


def post(url, body, headers, tries=3):
    """Send JSON, and again after an error that may pass."""
    data = json.dumps(body, default=unwrap).encode()
    headers = {"Content-Type": "application/json", **headers}
    for left in reversed(range(tries)):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
                return response.read().decode(), response.headers
        except urllib.error.HTTPError as error:
            if left == 0 or error.code not in (429, 500, 529):
                raise
            time.sleep(float(error.headers.get("Retry-After", 0)))
