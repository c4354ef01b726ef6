"""Stands in for the library anthropic: messages.create, not streaming."""

import json
import os

import standin


class Block(standin.Value):
    """A block whose input stays the dict that it is."""


class Anthropic:
    def __init__(self):
        self.messages = self

    def create(self, **request):
        key = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01", "User-Agent": "Anthropic/stand-in"}
        text, _ = standin.post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", request, key)
        answer = json.loads(text)
        return standin.Value({**answer, "content": [Block(block) for block in answer["content"]]})
