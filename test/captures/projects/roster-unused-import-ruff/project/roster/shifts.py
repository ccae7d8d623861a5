import os
import json
from datetime import date


def shifts(path):
    with open(path) as file:
        return json.load(file)


def is_open(day):
    if day == None:
        return False
    return day >= date.today()
