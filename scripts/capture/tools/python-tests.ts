import { pip, type ToolRow } from '../row.ts';

const PYTHON = { version: 'python3 --version' } as const;

/** Tools of Python that run tests, and thresholds on them. */
export const rows: readonly ToolRow[] = [
  {
    ...PYTHON,
    slug: 'unittest-subtest',
    tool: 'unittest',
    heldOut: false,
    files: {
      'tests/test_zones.py': `import unittest

from zones import zone


class ZoneTest(unittest.TestCase):
    def test_zones(self):
        for stop, expected in [("Pier", 1), ("Mill", 2), ("Quarry", 3)]:
            with self.subTest(stop=stop):
                self.assertEqual(zone(stop), expected)

    def test_unknown_stop(self):
        self.assertIsNone(zone("Moon"))
`,
      'tests/__init__.py': '',
      'zones.py': 'ZONES = {"Pier": 1, "Mill": 2, "Quarry": 2}\n\n\ndef zone(stop):\n    return ZONES.get(stop)\n',
    },
    green: { 'zones.py': ['"Quarry": 2', '"Quarry": 3'] },
    run: 'python -m unittest discover -v',
    exitCode: 1,
    telling: ['AssertionError: 2 != 3'],
  },
  {
    ...PYTHON,
    slug: 'unittest-import-error',
    tool: 'unittest',
    heldOut: false,
    files: {
      'tests/__init__.py': '',
      'tests/test_labels.py':
        'import unittest\n\nfrom printing.labels import label\n\n\nclass LabelTest(unittest.TestCase):\n    def test_label(self):\n        self.assertEqual(label(3), "No. 3")\n',
      'printing/__init__.py': '',
      'printing/label.py': 'def label(number):\n    return f"No. {number}"\n',
    },
    green: { 'printing/labels.py': 'def label(number):\n    return f"No. {number}"\n' },
    run: 'python -m unittest',
    exitCode: 1,
    telling: ["ModuleNotFoundError: No module named 'printing.labels'"],
  },
  {
    ...PYTHON,
    slug: 'doctest-wrong-example',
    tool: 'doctest',
    heldOut: false,
    files: {
      'paper.py': `def sheets(pages, duplex=True):
    """Return how many sheets of paper a job needs.

    >>> sheets(4)
    2
    >>> sheets(5)
    3
    >>> sheets(5, duplex=False)
    5
    """
    return pages // 2 if duplex else pages
`,
    },
    green: { 'paper.py': ['pages // 2', '(pages + 1) // 2'] },
    run: 'python -m doctest paper.py',
    exitCode: 1,
    telling: [{ from: '    3', to: '    2' }],
  },
  {
    ...pip('nose2'),
    slug: 'nose2-parameters',
    tool: 'nose2',
    heldOut: false,
    files: {
      'test_postage.py': `from nose2.tools import params

from postage import postage


@params((20, 85), (50, 100), (500, 160))
def test_postage(grams, cents):
    assert postage(grams) == cents, f"{grams} g cost {postage(grams)}"
`,
      'postage.py': 'def postage(grams):\n    if grams <= 20:\n        return 85\n    return 100 if grams < 50 else 160\n',
    },
    green: { 'postage.py': ['grams < 50', 'grams <= 50'] },
    run: 'nose2 -v',
    exitCode: 1,
    telling: ['AssertionError: 50 g cost 160'],
  },
  {
    ...pip('behave'),
    slug: 'behave-failed-step',
    tool: 'behave',
    heldOut: false,
    files: {
      'features/locker.feature': `Feature: Lockers
  Scenario: A locker opens with its code
    Given a locker with the code 4711
    When I enter 4711
    Then the locker is open

  Scenario: A locker stays shut with a wrong code
    Given a locker with the code 4711
    When I enter 1234
    Then the locker is shut
`,
      'features/steps/locker.py': `from behave import given, then, when


@given("a locker with the code {code}")
def with_code(context, code):
    context.code = code


@when("I enter {code}")
def enter(context, code):
    context.open = len(code) == len(context.code)


@then("the locker is {state}")
def is_open(context, state):
    actual = "open" if context.open else "shut"
    assert actual == state, f"the locker is {actual}"
`,
    },
    green: { 'features/steps/locker.py': ['len(code) == len(context.code)', 'code == context.code'] },
    run: 'behave',
    exitCode: 1,
    telling: ['ASSERT FAILED: the locker is open'],
  },
  {
    ...pip('behave'),
    slug: 'behave-undefined-step',
    tool: 'behave',
    heldOut: false,
    files: {
      'features/queue.feature':
        'Feature: Queue\n  Scenario: The queue moves\n    Given a queue of 3 people\n    When the desk opens\n    Then 2 people wait\n',
      'features/steps/queue.py': `from behave import given, then, when


@given("a queue of {count:d} people")
def queue(context, count):
    context.count = count


@then("{count:d} people wait")
def wait(context, count):
    assert context.count == count
`,
    },
    green: {
      'features/steps/queue.py': ['\n\n@then', '\n\n@when("the desk opens")\ndef opens(context):\n    context.count -= 1\n\n\n@then'],
    },
    run: 'behave --no-capture --no-color',
    exitCode: 1,
    telling: ['When the desk opens       # None'],
  },
  {
    ...pip('robotframework'),
    slug: 'robot-expected-text',
    tool: 'robot',
    heldOut: false,
    files: {
      'tests/greeting.robot': `*** Settings ***
Library    Process

*** Test Cases ***
Greets A Guest
    \${result}=    Run Process    python    greet.py    Ada
    Should Be Equal    \${result.stdout}    Welcome, Ada!

Asks For A Name
    \${result}=    Run Process    python    greet.py
    Should Contain    \${result.stdout}    Who is there?
`,
      'greet.py': 'import sys\n\nprint(f"Welcome {sys.argv[1]}!" if len(sys.argv) > 1 else "Who is there?")\n',
    },
    green: { 'greet.py': ['Welcome {', 'Welcome, {'] },
    run: 'robot --outputdir results tests',
    exitCode: 1,
    telling: ['Welcome Ada! != Welcome, Ada!'],
  },
  {
    ...pip('hypothesis', 'pytest'),
    slug: 'hypothesis-falsified',
    tool: 'hypothesis',
    heldOut: false,
    files: {
      'test_codec.py': `from hypothesis import given
from hypothesis import strategies as st


def encode(text):
    return ",".join(str(ord(letter)) for letter in text)


def decode(text):
    return "".join(chr(int(number)) for number in text.split(","))


@given(st.text())
def test_round_trip(text):
    assert decode(encode(text)) == text
`,
    },
    green: { 'test_codec.py': ['text.split(",")', 'text.split(",") if number'] },
    run: 'python -m pytest -q -p no:cacheprovider',
    exitCode: 1,
    telling: ["ValueError: invalid literal for int() with base 10: ''", "text=''"],
  },
  {
    ...pip('ward'),
    slug: 'ward-expectation',
    tool: 'ward',
    heldOut: true,
    files: {
      'test_roman.py': `from ward import test

from roman import roman


@test("9 is IX")
def _():
    assert roman(9) == "IX"


@test("3 is III")
def _():
    assert roman(3) == "III"
`,
      'roman.py': 'def roman(number):\n    return "X" * (number // 10) + "V" * (number % 10 // 5) + "I" * (number % 5)\n',
    },
    run: 'ward',
    exitCode: 1,
    telling: [{ from: '│ VIIII', to: '│ IX' }],
  },
  {
    ...pip('tox'),
    slug: 'tox-command-fails',
    tool: 'tox',
    heldOut: false,
    files: {
      'tox.ini':
        '[tox]\nenv_list = checks, docs\nno_package = true\n\n[testenv:checks]\ncommands = python checks.py\n\n[testenv:docs]\ncommands = python -c "print(\'docs are fine\')"\n',
      'checks.py':
        'import json\n\nprint("checking the catalog")\ncatalog = json.loads(\'{"books": 3}\')\nassert "films" in catalog, "the catalog has no films"\n',
    },
    green: { 'checks.py': ['{"books": 3}', '{"books": 3, "films": 1}'] },
    run: 'tox run',
    exitCode: 1,
    telling: ['AssertionError: the catalog has no films'],
  },
  {
    ...pip('nox'),
    slug: 'nox-session-fails',
    tool: 'nox',
    heldOut: false,
    files: {
      'noxfile.py': `import nox


@nox.session(venv_backend="none")
def manifest(session):
    session.run("python", "check_manifest.py")


@nox.session(venv_backend="none")
def size(session):
    session.run("python", "-c", "print('42 kB')")
`,
      'check_manifest.py':
        'from pathlib import Path\n\nfor name in Path("manifest.txt").read_text().split():\n    if not Path(name).exists():\n        raise SystemExit(f"manifest.txt names {name}, which is not there")\n',
      'manifest.txt': 'noxfile.py\nbanner.svg\n',
    },
    green: { 'manifest.txt': ['banner.svg\n', ''] },
    run: 'nox',
    exitCode: 1,
    telling: ['manifest.txt names banner.svg, which is not there'],
  },
  {
    ...pip('coverage'),
    slug: 'coverage-fail-under',
    tool: 'coverage',
    heldOut: false,
    files: {
      'test_fares.py':
        'import unittest\n\nfrom fares import fare\n\n\nclass FareTest(unittest.TestCase):\n    def test_adult(self):\n        self.assertEqual(fare(30), 320)\n',
      'fares.py':
        'def fare(age):\n    if age < 6:\n        return 0\n    if age < 15:\n        return 160\n    if age > 64:\n        return 200\n    return 320\n',
    },
    before: 'coverage run -m unittest',
    run: 'coverage report --show-missing --fail-under=90',
    exitCode: 2,
    telling: ['Coverage failure: total of'],
  },
  {
    ...pip('pytest-cov'),
    slug: 'pytest-cov-threshold',
    tool: 'pytest-cov',
    heldOut: false,
    files: {
      'test_dice.py': 'from dice import faces\n\n\ndef test_faces():\n    assert faces("d6") == 6\n',
      'dice.py':
        'def faces(name):\n    if name.startswith("d"):\n        return int(name[1:])\n    if name == "coin":\n        return 2\n    raise ValueError(name)\n',
    },
    green: {
      'test_dice.py':
        'import pytest\n\nfrom dice import faces\n\n\ndef test_faces():\n    assert faces("d6") == 6\n    assert faces("coin") == 2\n    with pytest.raises(ValueError):\n        faces("card")\n',
    },
    run: 'python -m pytest --cov=dice --cov-report=term-missing --cov-fail-under=95',
    exitCode: 1,
    telling: ['Required test coverage of 95% not reached'],
  },
  {
    ...pip('pytest-timeout'),
    slug: 'pytest-timeout-exceeded',
    tool: 'pytest-timeout',
    heldOut: false,
    files: {
      'test_bell.py':
        'import time\n\n\ndef wait_for_bell(rings):\n    while rings != 3:\n        time.sleep(0.05)\n\n\ndef test_bell():\n    wait_for_bell(2)\n',
    },
    green: { 'test_bell.py': ['wait_for_bell(2)', 'wait_for_bell(3)'] },
    run: 'python -m pytest --timeout=2 -q',
    exitCode: 1,
    telling: ['Failed: Timeout (>2.0s) from pytest-timeout.'],
  },
  {
    ...pip('pytest-bdd'),
    slug: 'pytest-bdd-missing-step',
    tool: 'pytest-bdd',
    heldOut: true,
    files: {
      'lift.feature':
        'Feature: Lift\n  Scenario: The lift goes up\n    Given the lift is on floor 2\n    When I press 5\n    Then the lift is on floor 5\n',
      'test_lift.py':
        'from pytest_bdd import given, parsers, scenarios, then\n\nscenarios("lift.feature")\n\n\n@given(parsers.parse("the lift is on floor {floor:d}"), target_fixture="lift")\ndef lift(floor):\n    return {"floor": floor}\n\n\n@then(parsers.parse("the lift is on floor {floor:d}"))\ndef on_floor(lift, floor):\n    assert lift["floor"] == floor\n',
    },
    run: 'python -m pytest -q',
    exitCode: 1,
    telling: ['StepDefinitionNotFoundError: Step definition is not found: When "I press 5"'],
  },
  {
    ...pip('django'),
    slug: 'django-test-status',
    tool: 'django',
    heldOut: false,
    files: {
      'manage.py':
        'import os\nimport sys\n\nfrom django.core.management import execute_from_command_line\n\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")\nexecute_from_command_line(sys.argv)\n',
      'settings.py':
        'SECRET_KEY = "not-a-secret"\nROOT_URLCONF = "urls"\nALLOWED_HOSTS = ["*"]\nINSTALLED_APPS = []\nDATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}\n',
      'urls.py':
        'from django.http import HttpResponse\nfrom django.urls import path\n\nurlpatterns = [path("menu", lambda request: HttpResponse("soup"))]\n',
      'tests.py':
        'from django.test import TestCase\n\n\nclass MenuTest(TestCase):\n    def test_menu_of_today(self):\n        self.assertContains(self.client.get("/menu/today"), "soup")\n',
    },
    green: { 'urls.py': ['path("menu"', 'path("menu/today"'] },
    run: 'python manage.py test',
    exitCode: 1,
    telling: ["Couldn't retrieve content: Response code was 404 (expected 200)"],
  },
  {
    ...pip('django'),
    slug: 'django-check-model',
    tool: 'django',
    heldOut: false,
    files: {
      'manage.py':
        'import os\nimport sys\n\nfrom django.core.management import execute_from_command_line\n\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")\nexecute_from_command_line(sys.argv)\n',
      'settings.py':
        'SECRET_KEY = "not-a-secret"\nINSTALLED_APPS = ["loans"]\nDEFAULT_AUTO_FIELD = "django.db.models.AutoField"\nDATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}\n',
      'loans/__init__.py': '',
      'loans/models.py':
        'from django.db import models\n\n\nclass Loan(models.Model):\n    title = models.CharField()\n    fee = models.DecimalField(max_digits=4, decimal_places=6)\n',
    },
    green: { 'loans/models.py': ['max_digits=4, decimal_places=6', 'max_digits=6, decimal_places=2'] },
    run: 'python manage.py check',
    exitCode: 1,
    telling: ['loans.Loan.fee: (fields.E134)'],
  },
  {
    ...pip('zope.testrunner'),
    slug: 'zope-testrunner-error',
    tool: 'zope-testrunner',
    heldOut: true,
    files: {
      'tests.py':
        'import unittest\n\n\nclass RosterTest(unittest.TestCase):\n    def test_first_name(self):\n        roster = {"monday": ["Ines", "Per"]}\n        self.assertEqual(roster["tuesday"][0], "Ines")\n',
    },
    green: { 'tests.py': ['roster["tuesday"]', 'roster["monday"]'] },
    run: 'zope-testrunner --path=. -vv',
    exitCode: 1,
    telling: ["KeyError: 'tuesday'"],
  },
  {
    ...pip('tavern'),
    slug: 'tavern-pytest-too-new',
    tool: 'tavern',
    heldOut: true,
    files: {
      'test_prices.tavern.yaml': `test_name: The price list answers

stages:
  - name: Ask for the price of tea
    request:
      url: http://payments.example.test:8080/prices/tea
      method: GET
    response:
      status_code: 200
`,
    },
    run: 'python -m pytest -q --tb=short test_prices.tavern.yaml',
    exitCode: 3,
    telling: ["ModuleNotFoundError: No module named '_pytest.python_api'"],
  },
];
