"""Renders the step of the documentation for builds with these properties, without Buildbot: reads and writes JSON.

The same names as in a master's configuration, with the part of their behavior that the step uses (buildbot/process/properties.py).
"""

import json
import re
import sys


class Interpolate:
    def __init__(self, text, **keywords):
        self.text = text
        self.keywords = keywords

    def render(self, properties, _secrets):
        def fill(match):
            kind, name = match.groups()
            value = properties.get(name) if kind == "prop" else self.keywords[name](Properties())
            return str(value or "")

        return re.sub(r"%\((prop|kw):(\w+)\)s", fill, self.text)


class Properties:
    def getBuild(self):
        return self

    def getUrl(self):
        return "https://ci.example.com/#/builders/1/builds/812"


class Secret:
    def __init__(self, name):
        self.name = name

    def render(self, _properties, secrets):
        return secrets[self.name]


class Names:
    Interpolate = Interpolate
    Secret = Secret
    FAILURE = 2

    @staticmethod
    def renderer(function):
        return function

    @staticmethod
    def ShellCommand(**given):
        return given


class Factory:
    def addStep(self, step):
        self.step = step


def render(value, properties, secrets):
    if isinstance(value, dict):
        return {name: render(one, properties, secrets) for name, one in value.items()}
    if isinstance(value, list):
        return [render(one, properties, secrets) for one in value]
    return value.render(properties, secrets) if hasattr(value, "render") else value


given = json.load(sys.stdin)
factory = Factory()
exec(given["recipe"], {"factory": factory, "steps": Names, "util": Names})
step = {name: value for name, value in factory.step.items() if name != "doStepIf"}
json.dump([render(step, properties, given["secrets"]) for properties in given["builds"]], sys.stdout)
