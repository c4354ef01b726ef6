"""Stands in for the library mcp: a session that lists and calls tools."""

import standin


class ClientSession:
    def __init__(self, read, write):
        self.connection = write

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def initialize(self):
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mcp-stand-in", "version": "1"}}
        self.connection.request("initialize", about)
        self.connection.notify("notifications/initialized")

    async def list_tools(self):
        listed = self.connection.request("tools/list", {})
        return standin.Value({"tools": [standin.Value(tool) for tool in listed["tools"]]})

    async def call_tool(self, name, arguments):
        return standin.wrap(self.connection.request("tools/call", {"name": name, "arguments": arguments}))
