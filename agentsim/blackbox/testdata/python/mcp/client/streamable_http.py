"""Stands in for the transport over streamable HTTP."""

import contextlib
import json

import standin


class Connection:
    def __init__(self, url):
        self.url = url
        self.headers = {"Accept": "application/json, text/event-stream"}
        self.number = 0

    def request(self, method, params):
        self.number += 1
        answer = self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def notify(self, method):
        self.send({"jsonrpc": "2.0", "method": method})

    def send(self, message):
        text, headers = standin.post(self.url, message, self.headers)
        if "Mcp-Session-Id" in headers:
            self.headers["Mcp-Session-Id"] = headers["Mcp-Session-Id"]
        for line in text.splitlines():  # a stream of events, or one value
            data = line.removeprefix("data:").strip()
            if data.startswith("{"):
                return json.loads(data)


@contextlib.asynccontextmanager
async def streamablehttp_client(url):
    connection = Connection(url)
    yield connection, connection, lambda: connection.headers.get("Mcp-Session-Id")
