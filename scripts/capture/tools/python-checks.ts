import { pip, type ToolRow } from '../row.ts';

/** Tools of PyPI that check code, text and configuration. */
export const rows: readonly ToolRow[] = [
  {
    ...pip('vulture'),
    slug: 'vulture-unused-function',
    tool: 'vulture',
    heldOut: true,
    files: {
      'tides.py': `def high_tide(hours):
    return max(hours)


def low_tide(hours):
    return min(hours)


print(high_tide([3, 15]))
`,
    },
    green: { 'tides.py': ['print(high_tide([3, 15]))', 'print(high_tide([3, 15]), low_tide([9, 21]))'] },
    run: 'vulture .',
    exitCode: 3,
    telling: ["unused function 'low_tide'"],
  },
  {
    ...pip('bandit'),
    slug: 'bandit-shell-call',
    tool: 'bandit',
    heldOut: false,
    files: {
      'backup/run.py': `import subprocess


def archive(folder):
    subprocess.call("tar czf backup.tgz " + folder, shell=True)


def limit():
    return 30
`,
      'backup/__init__.py': '',
    },
    green: {
      'backup/run.py': [
        'subprocess.call("tar czf backup.tgz " + folder, shell=True)',
        'subprocess.check_call(["tar", "czf", "backup.tgz", folder])',
      ],
    },
    run: 'bandit -r backup --severity-level high',
    exitCode: 1,
    telling: ['subprocess call with shell=True identified', 'Location: backup/run.py:5'],
  },
  {
    ...pip('pydocstyle'),
    slug: 'pydocstyle-missing-docstring',
    tool: 'pydocstyle',
    heldOut: true,
    files: {
      'clinic.py': `"""Appointments of a clinic."""


def book(day, hour):
    return {"day": day, "hour": hour}
`,
    },
    green: { 'clinic.py': ['    return', '    """Book an hour."""\n    return'] },
    run: 'pydocstyle --select=D103,D400 clinic.py',
    exitCode: 1,
    telling: ['D103: Missing docstring in public function'],
  },
  {
    ...pip('interrogate'),
    slug: 'interrogate-coverage',
    tool: 'interrogate',
    heldOut: false,
    files: {
      'shop/prices.py': `"""Prices."""


def net(price):
    return price / 1.2


def gross(price):
    return price * 1.2
`,
      'shop/__init__.py': '"""The shop."""\n',
    },
    run: 'interrogate -vv --fail-under 80 shop',
    exitCode: 1,
    telling: ['RESULT: FAILED (minimum: 80.0%'],
  },
  {
    ...pip('black==24.10.0'),
    slug: 'black-cannot-parse',
    tool: 'black',
    heldOut: false,
    files: {
      'bakery/__init__.py': '',
      'bakery/oven.py': `def bake(minutes):
    if minutes > 40
        raise ValueError("burnt")
    return "bread"
`,
    },
    green: { 'bakery/oven.py': ['minutes > 40', 'minutes > 40:'] },
    run: 'black --check --diff bakery',
    exitCode: 123,
    telling: ['bakery/oven.py: Cannot parse'],
  },
  {
    ...pip('isort'),
    slug: 'isort-import-order',
    tool: 'isort',
    heldOut: false,
    files: { 'ferry.py': 'import sys\nimport os\nfrom datetime import date\n\nprint(sys.argv, os.sep, date.today())\n' },
    green: { 'ferry.py': ['import sys\nimport os\n', 'import os\nimport sys\n'] },
    run: 'isort --check-only --diff ferry.py',
    exitCode: 1,
    telling: ['ferry.py Imports are incorrectly sorted'],
  },
  {
    ...pip('flake8', 'flake8-bugbear'),
    slug: 'flake8-bugbear-default',
    tool: 'flake8',
    heldOut: false,
    files: { 'queue_times.py': 'def add(minutes, times=[]):\n    times.append(minutes)\n    return times\n' },
    green: { 'queue_times.py': ['times=[]):\n', 'times=None):\n    times = times or []\n'] },
    run: 'flake8 --statistics',
    exitCode: 1,
    telling: ['B006 Do not use mutable data structures'],
  },
  {
    ...pip('pylint'),
    slug: 'pylint-undefined-variable',
    tool: 'pylint',
    heldOut: false,
    files: {
      'parking/__init__.py': '"""Parking."""\n',
      'parking/fees.py': `"""Fees of a car park."""


def fee(hours):
    """Return the fee in cents."""
    if hours < 1:
        return 0
    return hours * rate_per_hour
`,
    },
    green: { 'parking/fees.py': ['hours * rate_per_hour', 'hours * 250'] },
    run: 'pylint --disable=all --enable=E,W parking',
    exitCode: 2,
    telling: ["Undefined variable 'rate_per_hour'"],
  },
  {
    ...pip('pyright[nodejs]'),
    slug: 'pyright-optional-member',
    tool: 'pyright',
    heldOut: false,
    setup: "python3 -m pip install --user --no-warn-script-location 'pyright[nodejs]' && pyright --version",
    files: {
      'pyproject.toml': '[tool.pyright]\ninclude = ["src"]\n',
      'src/menu.py': `import re


def course(line: str) -> str:
    return re.match(r"(\\w+):", line).group(1)
`,
    },
    run: 'pyright',
    exitCode: 1,
    telling: ['"group" is not a known attribute of "None"'],
  },
  {
    ...pip('yapf'),
    slug: 'yapf-layout',
    tool: 'yapf',
    heldOut: true,
    files: { 'lamps.py': 'def lit(lamps):\n    return [ lamp for lamp in lamps if lamp["on"]==True ]\n' },
    green: { 'lamps.py': ['[ lamp for lamp in lamps if lamp["on"]==True ]', '[lamp for lamp in lamps if lamp["on"]]'] },
    run: 'yapf --diff --recursive .',
    exitCode: 1,
    telling: [{ from: '-    return [ lamp', to: '+    return [lamp' }],
  },
  {
    ...pip('ruff'),
    slug: 'ruff-format-check',
    tool: 'ruff',
    heldOut: false,
    files: { 'choir.py': "voices = { 'alto':3,'bass':2 }\n" },
    green: { 'choir.py': ["{ 'alto':3,'bass':2 }", '{"alto": 3, "bass": 2}'] },
    run: 'ruff format --check --diff .',
    exitCode: 1,
    telling: ["-voices = { 'alto':3"],
  },
  {
    ...pip('sqlfluff'),
    slug: 'sqlfluff-keyword-case',
    tool: 'sqlfluff',
    heldOut: false,
    files: { 'reports/overdue.sql': 'SELECT\n    loan_id,\n    due_on\nfrom loans\nWHERE returned_on IS NULL\n' },
    green: { 'reports/overdue.sql': ['from loans', 'FROM loans'] },
    run: 'sqlfluff lint --dialect postgres reports',
    exitCode: 1,
    telling: ['CP01 | Keywords must be consistently upper case'],
  },
  {
    ...pip('sqlfluff'),
    slug: 'sqlfluff-unparsable',
    tool: 'sqlfluff',
    heldOut: false,
    files: { 'reports/sales.sql': 'SELECT\n    month,\n    SUM(total) AS total\nFROM sales\nGROUP month\n' },
    green: { 'reports/sales.sql': ['GROUP month', 'GROUP BY month'] },
    run: 'sqlfluff parse --dialect ansi reports/sales.sql > parsed.txt || { sqlfluff lint --dialect ansi reports; exit 1; }',
    exitCode: 1,
    telling: ['Found unparsable section'],
  },
  {
    ...pip('yamllint'),
    slug: 'yamllint-repeated-route',
    tool: 'yamllint',
    heldOut: false,
    files: { 'config/routes.yml': '---\nroutes:\n  harbor: 12\n  market: 7\n  harbor: 14\n' },
    green: { 'config/routes.yml': ['  harbor: 14\n', ''] },
    run: 'yamllint --strict config',
    exitCode: 1,
    telling: ['duplication of key "harbor" in mapping'],
  },
  {
    ...pip('djlint'),
    slug: 'djlint-missing-alt',
    tool: 'djlint',
    heldOut: true,
    files: {
      'templates/card.html': '<div class="card">\n    <img src="{{ photo }}" height="40" width="40">\n    <h2>{{ name }}</h2>\n</div>\n',
    },
    green: { 'templates/card.html': ['<img src', '<img alt="A photo" src'] },
    run: 'djlint templates --lint --profile=django',
    exitCode: 1,
    telling: ['H013'],
  },
  {
    ...pip('check-jsonschema'),
    slug: 'check-jsonschema-wrong-type',
    tool: 'check-jsonschema',
    heldOut: true,
    files: {
      'schema.json': '{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "beds": {"type": "integer"}}}\n',
      'hotels/lakeside.json': '{"name": "Lakeside", "beds": "forty"}\n',
    },
    green: { 'hotels/lakeside.json': ['"forty"', '40'] },
    run: 'check-jsonschema --schemafile schema.json hotels/lakeside.json',
    exitCode: 1,
    telling: ["$.beds: 'forty' is not of type 'integer'"],
  },
  {
    ...pip('check-jsonschema'),
    slug: 'check-jsonschema-workflow',
    tool: 'check-jsonschema',
    heldOut: true,
    files: {
      '.github/workflows/ci.yml': 'name: CI\non: push\njobs:\n  test:\n    runs_on: ubuntu-latest\n    steps:\n      - run: make test\n',
    },
    green: { '.github/workflows/ci.yml': ['runs_on', 'runs-on'] },
    run: 'check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml',
    exitCode: 1,
    telling: ["'runs-on' is a required property"],
  },
  {
    ...pip('cfn-lint'),
    setup: 'python3 -m pip install --user --no-warn-script-location --ignore-installed cfn-lint',
    slug: 'cfn-lint-unknown-property',
    tool: 'cfn-lint',
    heldOut: true,
    files: {
      'stack.yml': `AWSTemplateFormatVersion: '2010-09-09'
Resources:
  Photos:
    Type: AWS::S3::Bucket
    Properties:
      BucketNam: family-photos
`,
    },
    green: { 'stack.yml': ['BucketNam:', 'BucketName:'] },
    run: 'cfn-lint stack.yml',
    exitCode: 2,
    telling: ["Additional properties are not allowed ('BucketNam' was unexpected"],
  },
  {
    ...pip('ansible-lint', 'ansible-core'),
    slug: 'ansible-lint-unnamed-task',
    tool: 'ansible-lint',
    heldOut: false,
    files: {
      'site.yml': `---
- name: Prepare the print server
  hosts: printers
  tasks:
    - ansible.builtin.command: lpadmin -p office -E
      changed_when: false
`,
    },
    green: { 'site.yml': ['- ansible.builtin.command', '- name: Enable the office printer\n      ansible.builtin.command'] },
    run: 'ansible-lint --offline site.yml',
    exitCode: 2,
    telling: ['name[missing]: All tasks should be named.', 'site.yml:5'],
  },
  {
    ...pip('detect-secrets'),
    slug: 'detect-secrets-password',
    tool: 'detect-secrets',
    heldOut: true,
    files: { 'mailer.py': 'import os\n\nhost = os.environ["MAIL_HOST"]\npassword = "tulip-harvest-41"\n' },
    green: { 'mailer.py': ['"tulip-harvest-41"', 'os.environ["MAIL_PASSWORD"]'] },
    run: 'detect-secrets-hook mailer.py',
    exitCode: 1,
    telling: ['Secret Type: Secret Keyword', 'Location:    mailer.py:4'],
  },
  {
    ...pip('codespell'),
    slug: 'codespell-typo',
    tool: 'codespell',
    heldOut: true,
    files: { 'docs/guide.md': '# Guide\n\nThe gate opens when the visitor has recieved a ticket.\n' },
    green: { 'docs/guide.md': ['recieved', 'received'] },
    run: 'codespell docs',
    exitCode: 65,
    telling: ['recieved ==> received'],
  },
  {
    ...pip('import-linter'),
    slug: 'import-linter-layers',
    tool: 'import-linter',
    heldOut: true,
    files: {
      '.importlinter': `[importlinter]
root_package = cinema

[importlinter:contract:1]
name = The screens stay above the storage
type = layers
layers =
    cinema.screens
    cinema.storage
`,
      'cinema/__init__.py': '',
      'cinema/screens.py': 'def show(film):\n    return f"Now showing: {film}"\n',
      'cinema/storage.py': 'from cinema.screens import show\n\n\ndef load(film):\n    return show(film)\n',
    },
    green: { 'cinema/storage.py': 'def load(film):\n    return film\n' },
    env: { PYTHONPATH: '.' },
    run: 'lint-imports',
    exitCode: 1,
    telling: ['cinema.storage is not allowed to import cinema.screens', 'cinema.storage -> cinema.screens (l.1)'],
  },
  {
    ...pip('deptry'),
    slug: 'deptry-missing-dependency',
    tool: 'deptry',
    heldOut: true,
    files: {
      'pyproject.toml': '[project]\nname = "glossary"\nversion = "1.0.0"\ndependencies = ["click"]\n',
      'glossary.py': 'import click\nimport pendulum\n\nclick.echo(pendulum.now())\n',
    },
    green: { 'pyproject.toml': ['["click"]', '["click", "pendulum"]'] },
    run: 'deptry .',
    exitCode: 1,
    telling: ["DEP001 'pendulum' imported but missing from the dependency definitions"],
  },
  {
    ...pip('xenon'),
    slug: 'xenon-complexity',
    tool: 'xenon',
    heldOut: true,
    files: {
      'signals.py': `def signal(speed, rain, night, works, school):
    if speed > 120:
        return "red"
    if rain and night:
        return "red"
    if works and speed > 60:
        return "red"
    if school and speed > 30 and not night:
        return "red"
    return "green"
`,
    },
    green: { 'signals.py': 'def signal(speed):\n    return "red" if speed > 120 else "green"\n' },
    run: 'xenon --max-absolute A --max-modules A --max-average A .',
    exitCode: 1,
    telling: ['block "signals.py:1 signal" has a rank of'],
  },
  {
    ...pip('reuse'),
    slug: 'reuse-no-license',
    tool: 'reuse',
    heldOut: true,
    files: {
      'LICENSES/MIT.txt': 'MIT License\n\nPermission is hereby granted, free of charge, to any person.\n',
      'README.md': '<!--\nSPDX-FileCopyrightText: 2026 The Orchard\nSPDX-License-Identifier: MIT\n-->\n\n# Orchard\n',
      'apples.py': 'print("apples")\n',
    },
    green: { 'apples.py': '# SPDX-FileCopyrightText: 2026 The Orchard\n# SPDX-License-Identifier: MIT\n\nprint("apples")\n' },
    run: 'reuse lint',
    exitCode: 1,
    telling: ['/apples.py'],
  },
  {
    ...pip('pre-commit'),
    slug: 'pre-commit-local-hook',
    tool: 'pre-commit',
    heldOut: false,
    setup: 'python3 -m pip install --user --no-warn-script-location pre-commit\ngit init -q -b main && git add .',
    files: {
      '.pre-commit-config.yaml': `repos:
  - repo: local
    hooks:
      - id: no-print
        name: no print in the library
        language: pygrep
        entry: '^\\s*print\\('
        types: [python]
      - id: ends-with-newline
        name: files end with a newline
        language: system
        entry: tail -c1
        types: [python]
`,
      'meter.py': 'def read(meter):\n    print(meter)\n    return meter["value"]\n',
    },
    green: { 'meter.py': ['    print(meter)\n', ''] },
    run: 'pre-commit run --all-files --show-diff-on-failure',
    exitCode: 1,
    telling: ['meter.py:2:    print(meter)'],
  },
  {
    ...pip('pre-commit'),
    slug: 'pre-commit-bad-config',
    tool: 'pre-commit',
    heldOut: false,
    setup: 'python3 -m pip install --user --no-warn-script-location pre-commit\ngit init -q -b main && git add .',
    files: {
      '.pre-commit-config.yaml': 'repos:\n  - repo: local\n    hooks:\n      - id: lint\n        name: lint\n        entry: make lint\n',
    },
    green: { '.pre-commit-config.yaml': ['entry: make lint', "language: pygrep\n        entry: 'never[ ]matched'"] },
    run: 'pre-commit run --all-files',
    exitCode: 1,
    telling: ['=====> Missing required key: language'],
  },
  {
    ...pip('pyupgrade'),
    slug: 'pyupgrade-old-style',
    tool: 'pyupgrade',
    heldOut: true,
    files: { 'labels.py': 'def label(name, price):\n    return "{}: {}".format(name, price)\n\n\nclass Label(object):\n    pass\n' },
    green: { 'labels.py': 'def label(name, price):\n    return f"{name}: {price}"\n' },
    run: 'pyupgrade --py39-plus *.py',
    exitCode: 1,
    telling: ['Rewriting labels.py'],
  },
  {
    ...pip('mypy', 'types-PyYAML'),
    slug: 'mypy-return-type',
    tool: 'mypy',
    heldOut: false,
    files: {
      'mypy.ini': '[mypy]\nstrict = true\npretty = true\n',
      'rooms.py': 'def count(rooms: dict[str, int]) -> int:\n    return rooms.get("single")\n',
    },
    green: { 'rooms.py': ['.get("single")', '["single"]'] },
    run: 'mypy rooms.py',
    exitCode: 1,
    telling: ['Incompatible return value type'],
  },
];
