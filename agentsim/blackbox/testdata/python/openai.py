"""Stands in for the library openai: chat.completions.create, not streaming."""

import json
import os

import standin


class OpenAI:
    def __init__(self):
        self.chat = self.completions = self

    def create(self, **request):
        key = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "User-Agent": "OpenAI/stand-in"}
        text, _ = standin.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", request, key)
        answer = json.loads(text)
        for choice in answer["choices"]:  # arguments stay the text that they are
            choice["message"] = {name: value for name, value in choice["message"].items() if value is not None}
        return standin.wrap(answer)
