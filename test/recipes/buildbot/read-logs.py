"""Prints the logs of all steps of a master's database as JSON: name of the step, name of the log, text."""

import json
import sqlite3
import sys

QUERY = """
select steps.name, logs.name, group_concat(logchunks.content, '') from steps join logs on logs.stepid = steps.id
join logchunks on logchunks.logid = logs.id group by logs.id order by steps.id"""

database = sqlite3.connect(sys.argv[1])
database.text_factory = lambda data: data.decode(errors="replace")
rows = [[part.decode(errors="replace") if isinstance(part, bytes) else part for part in row] for row in database.execute(QUERY)]
json.dump(rows, sys.stdout)
