"""An agent that is a class whose objects are sessions: python:sessions:Session."""

import calculator


class Session:
    """Remember what was said by itself."""

    def __init__(self, folder):
        self.folder = folder
        self.history = []

    async def send(self, message):
        told = calculator.answer(message, self.history, self.folder)
        self.history.append({"role": "user", "content": message})
        self.history.append({"role": "assistant", "content": told["reply"]})
        return told

    def close(self):
        self.history.clear()
