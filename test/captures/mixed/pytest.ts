import {
  assertion,
  type MixedBuild,
  missingFile,
  missingPackage,
  missingSetting,
  nullReference,
  ownModule,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createPipTool } from '../../../scripts/parts/capture/row.ts';

/** Suites of pytest. */
export const builds: readonly MixedBuild[] = [
  {
    ...createPipTool('pytest==8.3.4', 'pytest-timeout==2.3.1'),
    id: 'pytest-apiary',
    runner: 'pytest',
    project: 'apiary',
    files: {
      'apiary/__init__.py': '',
      'apiary/hives.py': `import json
import socket
import time


def honey(frames):
    return sum(frames) * 2


def queen(hive):
    return hive["queen"]["name"]


def plan():
    with open("plans/2026.json") as file:
        return json.load(file)


def weigh():
    with socket.create_connection(("127.0.0.1", 4870), timeout=2) as scale:
        return scale.recv(4)


def smoke(puffs):
    time.sleep(puffs)


def split(hive):
    return hive.frames[: len(hive.frames) / 2]
`,
      'tests/test_hives.py': `from types import SimpleNamespace

import pytest

from apiary.hives import honey, plan, queen, smoke, split, weigh


def test_honey_of_an_empty_hive():
    assert honey([]) == 0


def test_honey_of_three_frames():
    assert honey([2, 3, 1]) == 18


def test_queen_of_a_swarm():
    assert queen({"bees": 9000}) is None


def test_plan_of_the_year():
    assert plan()["inspections"] == 14


def test_scale_under_the_hive():
    assert weigh() == b"0042"


@pytest.mark.timeout(0.3)
def test_smoke_before_opening():
    smoke(5)


class TestSplit:
    def test_ten_frames(self):
        assert len(split(SimpleNamespace(frames=list(range(10))))) == 5

    def test_names_of_the_halves(self):
        halves = {"old": "Linden", "new": "Clover"}
        assert halves == {"old": "Linden", "new": "Heather"}
`,
    },
    run: 'python -m pytest --junitxml=report.xml',
    report: 'report.xml',
    tally: '7 failed, 1 passed',
    failures: [
      {
        ...assertion,
        test: 'test_honey_of_three_frames',
        at: '___ test_honey_of_three_frames ___',
        message: 'assert 12 == 18',
        lines: ['where 12 = honey([2, 3, 1])'],
        cause: 'honey-per-frame',
      },
      {
        ...nullReference,
        test: 'test_queen_of_a_swarm',
        at: '___ test_queen_of_a_swarm ___',
        message: "KeyError: 'queen'",
        cause: 'no-queen',
      },
      {
        ...missingFile,
        test: 'test_plan_of_the_year',
        at: '___ test_plan_of_the_year ___',
        message: "FileNotFoundError: [Errno 2] No such file or directory: 'plans/2026.json'",
        cause: 'plan-file',
      },
      {
        ...refused,
        test: 'test_scale_under_the_hive',
        at: '___ test_scale_under_the_hive ___',
        message: 'ConnectionRefusedError: [Errno 111] Connection refused',
        cause: 'no-scale',
      },
      {
        ...testTimeout,
        test: 'test_smoke_before_opening',
        at: '___ test_smoke_before_opening ___',
        message: 'Failed: Timeout >0.3s',
        cause: 'smoke-too-long',
      },
      {
        ...thrown,
        test: 'test_ten_frames',
        suite: 'TestSplit',
        at: '___ TestSplit.test_ten_frames ___',
        message: 'TypeError: slice indices must be integers or None or have an __index__ method',
        cause: 'half-of-frames',
      },
      {
        ...assertion,
        test: 'test_names_of_the_halves',
        suite: 'TestSplit',
        at: '___ TestSplit.test_names_of_the_halves ___',
        message: "{'new': 'Clover'} != {'new': 'Heather'}",
        cause: 'name-of-half',
      },
    ],
  },
  {
    ...createPipTool('pytest==8.3.4'),
    id: 'pytest-harbor-broken-fixture',
    runner: 'pytest',
    project: 'harbor-office',
    files: {
      'conftest.py': `import os

import pytest


@pytest.fixture
def ledger():
    return {"berths": int(os.environ["HARBOR_BERTHS"])}


@pytest.fixture
def pilot():
    return {"name": "Ines", "tugs": ["Bruno"]}
`,
      'tests/test_berths.py': `import pytest


@pytest.mark.parametrize("boats", [1, 4, 9])
def test_there_is_room(ledger, boats):
    assert boats <= ledger["berths"]


def test_quay_is_longer_than_the_ferry(ledger):
    assert ledger["berths"] * 12 > 80
`,
      'tests/test_pilots.py': `def test_pilot_has_two_tugs(pilot):
    assert len(pilot["tugs"]) == 2


def test_pilot_on_watch(pilot):
    assert pilot["watch"] == "night"


def test_pilot_has_a_name(pilot):
    assert pilot["name"] == "Ines"
`,
    },
    run: 'python -m pytest -v',
    tally: '2 failed, 1 passed, 4 errors',
    failures: [
      ...[
        'test_there_is_room[1]',
        'test_there_is_room[4]',
        'test_there_is_room[9]',
        'test_quay_is_longer_than_the_ferry',
      ].map((test) => ({
        ...missingSetting,
        test,
        at: `ERROR at setup of ${test} `,
        message: "KeyError: 'HARBOR_BERTHS'",
        cause: 'berths-setting',
      })),
      {
        ...assertion,
        test: 'test_pilot_has_two_tugs',
        at: '___ test_pilot_has_two_tugs ___',
        message: 'assert 1 == 2',
        lines: ["where 1 = len(['Bruno'])"],
        cause: 'second-tug',
      },
      {
        ...nullReference,
        test: 'test_pilot_on_watch',
        at: '___ test_pilot_on_watch ___',
        message: "KeyError: 'watch'",
        cause: 'pilot-watch',
      },
    ],
  },
  {
    ...createPipTool('pytest==7.4.4'),
    id: 'pytest-seed-bank-collection',
    runner: 'pytest',
    project: 'seed-bank',
    ci: 'jenkins',
    files: {
      'seedbank/__init__.py': '',
      'seedbank/vault.py': 'import zstdpack\n\n\ndef pack(seeds):\n    return zstdpack.dumps(seeds)\n',
      'seedbank/drawer.py': 'LABELS = {"rye": 1, "oat": 2}\n',
      'seedbank/count.py': 'def count(bags):\n    return sum(bag["seeds"] for bag in bags)\n',
      'tests/test_vault.py': 'from seedbank.vault import pack\n\n\ndef test_pack():\n    assert pack([1])\n',
      'tests/test_shelf.py':
        'from seedbank.vault import pack\n\n\ndef test_shelf():\n    assert pack([]) == b""\n',
      'tests/test_drawer.py':
        'from seedbank.drawer import COLORS\n\n\ndef test_colors():\n    assert "green" in COLORS\n',
      'tests/test_count.py': `import pytest

from seedbank.count import count


def test_two_bags():
    assert count([{"seeds": 40}, {"seeds": 2}]) == 44


def test_bag_without_label():
    assert count([{"grams": 3}]) == 0


def test_dry_room(tmp_path):
    with pytest.raises(ValueError):
        int("12")
`,
    },
    run: 'python -m pytest --continue-on-collection-errors',
    tally: '3 failed, 3 errors',
    failures: [
      ...['tests/test_shelf.py', 'tests/test_vault.py'].map((suite) => ({
        ...missingPackage,
        suite,
        at: `ERROR collecting ${suite} `,
        message: "ModuleNotFoundError: No module named 'zstdpack'",
        cause: 'zstdpack',
      })),
      {
        ...ownModule,
        suite: 'tests/test_drawer.py',
        at: 'ERROR collecting tests/test_drawer.py ',
        message: "ImportError: cannot import name 'COLORS' from 'seedbank.drawer'",
        cause: 'colors-name',
      },
      {
        ...assertion,
        test: 'test_two_bags',
        at: '___ test_two_bags ___',
        message: 'assert 42 == 44',
        cause: 'two-bags',
      },
      {
        ...nullReference,
        test: 'test_bag_without_label',
        at: '___ test_bag_without_label ___',
        message: "KeyError: 'seeds'",
        cause: 'bag-without-seeds',
      },
      {
        ...assertion,
        test: 'test_dry_room',
        at: '___ test_dry_room ___',
        message: "Failed: DID NOT RAISE <class 'ValueError'>",
        cause: 'nothing-raised',
      },
    ],
  },
  {
    ...createPipTool('pytest==8.3.4', 'pytest-rerunfailures==15.0'),
    id: 'pytest-planetarium-rerun',
    runner: 'pytest',
    project: 'planetarium',
    files: {
      'planetarium.py': `def moons(planet):
    """Counts the moons of a planet.

    >>> moons("Mars")
    2
    >>> moons("Earth")
    2
    """
    return {"Mars": 2, "Earth": 1, "Venus": 0}[planet]
`,
      'test_shows.py': `from planetarium import moons

tries = []


def test_projector_is_warm():
    tries.append(1)
    assert len(tries) > 1, "the projector is still cold"


def test_moons_of_venus():
    assert moons("Venus") == 0


def test_moons_of_a_comet():
    assert moons("Encke") == 0
`,
    },
    run: 'python -m pytest --doctest-modules --reruns 2 --only-rerun AssertionError -rR',
    tally: '2 failed, 2 passed, 1 rerun',
    passedOnRetry: ['test_projector_is_warm'],
    failures: [
      {
        ...assertion,
        test: 'planetarium.moons',
        at: '[doctest] planetarium.moons',
        message: 'Got:',
        lines: [{ from: 'Expected:', to: '/planetarium.py:' }],
        cause: 'doctest-earth',
      },
      {
        ...nullReference,
        test: 'test_moons_of_a_comet',
        at: '___ test_moons_of_a_comet ___',
        message: "KeyError: 'Encke'",
        cause: 'comet',
      },
    ],
  },
  {
    ...createPipTool('pytest==8.3.4'),
    id: 'pytest-weather-green',
    runner: 'pytest',
    project: 'weather-station',
    files: {
      'station.py': `import logging
import socket

log = logging.getLogger("station")


def report():
    try:
        socket.create_connection(("127.0.0.1", 9099), timeout=1)
    except OSError:
        log.exception("ERROR: the report was not sent, it is kept for later")
        return "kept"
`,
      'test_station.py': `import pytest

from station import report


def test_report_is_kept():
    assert report() == "kept"


@pytest.mark.xfail(reason="the wind gauge is away for repair")
def test_wind():
    raise RuntimeError("no wind gauge")


def test_rain():
    print("Traceback (most recent call last): this is only the name of a song")
`,
    },
    run: 'python -m pytest -rA -o log_cli=true',
    exitCode: 0,
    tally: '2 passed, 1 xfailed',
    green: true,
    failures: [],
  },
];
