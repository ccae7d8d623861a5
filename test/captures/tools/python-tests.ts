import { createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const PYTHON = { version: 'python3 --version' } as const;

/** Tools of Python that run tests, and thresholds on them. */
export const rows: readonly ToolRow[] = [
  {
    ...PYTHON,
    slug: 'unittest-subtest',
    tool: 'unittest',
    heldOut: false,
    category: 'TEST_FAILURE',
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
      'zones.py':
        'ZONES = {"Pier": 1, "Mill": 2, "Quarry": 2}\n\n\ndef zone(stop):\n    return ZONES.get(stop)\n',
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
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR', 'TEST_FAILURE'],
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
    category: 'TEST_FAILURE',
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
    ...createPipTool('nose2'),
    slug: 'nose2-parameters',
    tool: 'nose2',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test_postage.py': `from nose2.tools import params

from postage import postage


@params((20, 85), (50, 100), (500, 160))
def test_postage(grams, cents):
    assert postage(grams) == cents, f"{grams} g cost {postage(grams)}"
`,
      'postage.py':
        'def postage(grams):\n    if grams <= 20:\n        return 85\n    return 100 if grams < 50 else 160\n',
    },
    green: { 'postage.py': ['grams < 50', 'grams <= 50'] },
    run: 'nose2 -v',
    exitCode: 1,
    telling: ['AssertionError: 50 g cost 160'],
  },
  {
    ...createPipTool('hypothesis', 'pytest'),
    slug: 'hypothesis-falsified',
    tool: 'hypothesis',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
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
    ...createPipTool('ward'),
    slug: 'ward-expectation',
    tool: 'ward',
    heldOut: true,
    category: 'TEST_FAILURE',
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
      'roman.py':
        'def roman(number):\n    return "X" * (number // 10) + "V" * (number % 10 // 5) + "I" * (number % 5)\n',
    },
    run: 'ward',
    exitCode: 1,
    telling: [{ from: '│ VIIII', to: '│ IX' }],
  },
  {
    ...createPipTool('tox'),
    slug: 'tox-command-fails',
    tool: 'tox',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
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
    ...createPipTool('nox'),
    slug: 'nox-session-fails',
    tool: 'nox',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR', 'TEST_FAILURE'],
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
    ...createPipTool('coverage'),
    slug: 'coverage-fail-under',
    tool: 'coverage',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
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
    ...createPipTool('pytest-cov'),
    slug: 'pytest-cov-threshold',
    tool: 'pytest-cov',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
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
    ...createPipTool('pytest-timeout'),
    slug: 'pytest-timeout-exceeded',
    tool: 'pytest-timeout',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
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
    ...createPipTool('django'),
    slug: 'django-test-status',
    tool: 'django',
    heldOut: false,
    category: 'TEST_FAILURE',
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
    ...createPipTool('django'),
    slug: 'django-check-model',
    tool: 'django',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createPipTool('zope.testrunner'),
    slug: 'zope-testrunner-error',
    tool: 'zope-testrunner',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'tests.py':
        'import unittest\n\n\nclass RosterTest(unittest.TestCase):\n    def test_first_name(self):\n        roster = {"monday": ["Ines", "Per"]}\n        self.assertEqual(roster["tuesday"][0], "Ines")\n',
    },
    green: { 'tests.py': ['roster["tuesday"]', 'roster["monday"]'] },
    run: 'zope-testrunner --path=. -vv',
    exitCode: 1,
    telling: ["KeyError: 'tuesday'"],
  },
];
