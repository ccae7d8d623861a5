import { createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of PyPI that check Python code. */
export const rows: readonly ToolRow[] = [
  {
    ...createPipTool('vulture'),
    slug: 'vulture-unused-function',
    tool: 'vulture',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createPipTool('bandit'),
    slug: 'bandit-shell-call',
    tool: 'bandit',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createPipTool('pydocstyle'),
    slug: 'pydocstyle-missing-docstring',
    tool: 'pydocstyle',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createPipTool('interrogate'),
    slug: 'interrogate-coverage',
    tool: 'interrogate',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
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
    ...createPipTool('black==24.10.0'),
    slug: 'black-cannot-parse',
    tool: 'black',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createPipTool('isort'),
    slug: 'isort-import-order',
    tool: 'isort',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'ferry.py':
        'import sys\nimport os\nfrom datetime import date\n\nprint(sys.argv, os.sep, date.today())\n',
    },
    green: { 'ferry.py': ['import sys\nimport os\n', 'import os\nimport sys\n'] },
    run: 'isort --check-only --diff ferry.py',
    exitCode: 1,
    telling: ['ferry.py Imports are incorrectly sorted'],
  },
  {
    ...createPipTool('flake8', 'flake8-bugbear'),
    slug: 'flake8-bugbear-default',
    tool: 'flake8',
    heldOut: false,
    category: 'CODE_ERROR',
    files: { 'queue_times.py': 'def add(minutes, times=[]):\n    times.append(minutes)\n    return times\n' },
    green: { 'queue_times.py': ['times=[]):\n', 'times=None):\n    times = times or []\n'] },
    run: 'flake8 --statistics',
    exitCode: 1,
    telling: ['B006 Do not use mutable data structures'],
  },
  {
    ...createPipTool('pylint'),
    slug: 'pylint-undefined-variable',
    tool: 'pylint',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createPipTool('pyright[nodejs]'),
    slug: 'pyright-optional-member',
    tool: 'pyright',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createPipTool('yapf'),
    slug: 'yapf-layout',
    tool: 'yapf',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'lamps.py': 'def lit(lamps):\n    return [ lamp for lamp in lamps if lamp["on"]==True ]\n' },
    green: {
      'lamps.py': [
        '[ lamp for lamp in lamps if lamp["on"]==True ]',
        '[lamp for lamp in lamps if lamp["on"]]',
      ],
    },
    run: 'yapf --diff --recursive .',
    exitCode: 1,
    telling: [{ from: '-    return [ lamp', to: '+    return [lamp' }],
  },
  {
    ...createPipTool('ruff'),
    slug: 'ruff-format-check',
    tool: 'ruff',
    heldOut: false,
    category: 'CODE_ERROR',
    files: { 'choir.py': "voices = { 'alto':3,'bass':2 }\n" },
    green: { 'choir.py': ["{ 'alto':3,'bass':2 }", '{"alto": 3, "bass": 2}'] },
    run: 'ruff format --check --diff .',
    exitCode: 1,
    telling: ["-voices = { 'alto':3"],
  },
  {
    ...createPipTool('import-linter'),
    slug: 'import-linter-layers',
    tool: 'import-linter',
    heldOut: true,
    category: 'CODE_ERROR',
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
    telling: [
      'cinema.storage is not allowed to import cinema.screens',
      'cinema.storage -> cinema.screens (l.1)',
    ],
  },
  {
    ...createPipTool('xenon'),
    slug: 'xenon-complexity',
    tool: 'xenon',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createPipTool('pyupgrade'),
    slug: 'pyupgrade-old-style',
    tool: 'pyupgrade',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'labels.py':
        'def label(name, price):\n    return "{}: {}".format(name, price)\n\n\nclass Label(object):\n    pass\n',
    },
    green: { 'labels.py': 'def label(name, price):\n    return f"{name}: {price}"\n' },
    run: 'pyupgrade --py39-plus *.py',
    exitCode: 1,
    telling: ['Rewriting labels.py'],
  },
  {
    ...createPipTool('mypy', 'types-PyYAML'),
    slug: 'mypy-return-type',
    tool: 'mypy',
    heldOut: false,
    category: 'CODE_ERROR',
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
