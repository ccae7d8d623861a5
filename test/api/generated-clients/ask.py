"""Uses the client that openapi-python-client makes of the API's description: ask.py ADDRESS TOKEN BUILD."""

import json
import sys

from faultline.api.builds import list_build_analyses, list_builds
from faultline.client import AuthenticatedClient

address, token, build = sys.argv[1:]
found = list_build_analyses.sync(build, client=AuthenticatedClient(base_url=address, token=token))
refused = list_builds.sync(client=AuthenticatedClient(base_url=address, token="another"))
answer = found.analyses[0]
print(json.dumps({"category": answer.category, "title": answer.answer.title, "refused": refused.error.code}))
