"""Wrong tokens are counted by address and by how they begin: each request comes from its own address, each wrong token is another."""

import itertools
import os

import requests
import schemathesis

TOKEN = f"Bearer {os.environ['FAULTLINE_ATTACK_TOKEN']}"
numbers = itertools.count(1)
send = requests.Session.send


def send_from_elsewhere(session, request, **options):
    number = next(numbers)
    request.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if request.headers.get("Authorization", TOKEN) != TOKEN:
        request.headers["Authorization"] = f"Bearer {number} is wrong"
    return send(session, request, **options)


requests.Session.send = send_from_elsewhere


@schemathesis.hook
def filter_body(context, body):
    """Keys that reach a prototype of JavaScript are refused on purpose."""
    return "__proto__" not in repr(body)
