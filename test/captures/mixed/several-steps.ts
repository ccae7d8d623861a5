import {
  assertion,
  compileError,
  finding,
  type MixedBuild,
  missingFile,
  nullReference,
  refused,
  thrown,
  typeFinding,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool, createNpmTool, createPipTool } from '../../../scripts/parts/capture/row.ts';

const unreachable = { category: 'INFRA_ERROR', also_ok: ['CONFIG_ERROR'], kind: 'network' } as const;

/** Steps that fail one after the other, in one log. */
export const builds: readonly MixedBuild[] = [
  {
    ...createPipTool('pytest==8.3.4', 'ruff==0.8.4', 'mypy==1.13.0'),
    id: 'steps-python-apothecary',
    runner: 'github steps',
    project: 'apothecary',
    keepGoing: true,
    files: {
      'apothecary/__init__.py': '',
      'apothecary/herbs.py': `import os


def dose(herb: str, grams: int) -> int:
    return {"sage": 2, "mint": 3}[herb] * grams


def label(herb: str) -> str:
    return herb.upper().strip(3)
`,
      'tests/test_herbs.py': `from apothecary.herbs import dose, label


def test_dose_of_mint():
    assert dose("mint", 2) == 8


def test_dose_of_nettle():
    assert dose("nettle", 1) == 0


def test_label():
    assert label("sage") == "SAGE"
`,
    },
    run: [
      { run: 'ruff check apothecary' },
      { run: 'mypy apothecary' },
      { run: 'python -m pytest -q' },
      { run: 'curl --fail --show-error --silent http://stock.example.test/herbs' },
    ],
    network: 'none',
    tally: ['3 failed', 'Found 1 error in 1 file'],
    failures: [
      {
        ...finding,
        message: 'F401 [*] `os` imported but unused',
        lines: ['apothecary/herbs.py:1:8'],
        cause: 'ruff',
      },
      {
        ...typeFinding,
        message: 'Argument 1 to "strip" of "str" has incompatible type "int"',
        cause: 'mypy',
      },
      {
        ...assertion,
        test: 'test_dose_of_mint',
        at: '___ test_dose_of_mint ___',
        message: 'assert 6 == 8',
        cause: 'mint',
      },
      {
        ...nullReference,
        test: 'test_dose_of_nettle',
        at: '___ test_dose_of_nettle ___',
        message: "KeyError: 'nettle'",
        cause: 'nettle',
      },
      {
        ...thrown,
        test: 'test_label',
        at: '___ test_label ___',
        message: 'TypeError: strip arg must be None or str',
        cause: 'strip-of-three',
      },
      {
        ...unreachable,
        message: 'curl: (6) Could not resolve host: stock.example.test',
        cause: 'stock-host',
      },
    ],
  },
  {
    ...createNpmTool('typescript@5', 'eslint@9', '@eslint/js@9', 'mocha@11'),
    id: 'steps-javascript-ice-rink',
    runner: 'github steps',
    project: 'ice-rink',
    keepGoing: true,
    files: {
      'package.json':
        '{ "name": "ice-rink", "private": true, "type": "module", "scripts": { "lint": "eslint src", "types": "tsc --pretty false", "test": "mocha test" } }\n',
      'eslint.config.js': "import js from '@eslint/js';\n\nexport default [js.configs.recommended];\n",
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "noEmit": true, "allowJs": true, "checkJs": true, "types": [], "target": "es2022", "module": "nodenext" }, "include": ["src"] }\n',
      'src/rink.js': `/** @param {number} skaters */
export function tickets(skaters) {
  debugger;
  return skaters * 6;
}

/** @returns {number} */
export function resurface() {
  return 'done';
}
`,
      'test/rink.js': `import assert from 'node:assert/strict';
import { tickets } from '../src/rink.js';

describe('rink', () => {
  it('sells four tickets', () => {
    assert.equal(tickets(4), 20);
  });

  it('opens in winter', () => {
    const season = new Map();
    assert.equal(season.get('winter').open, true);
  });
});
`,
    },
    run: [{ run: 'npm run lint' }, { run: 'npm run types' }, { run: 'npm test' }],
    exitCode: 1,
    tally: ['2 failing', '1 problem (1 error, 0 warnings)'],
    failures: [
      { ...finding, message: "Unexpected 'debugger' statement", cause: 'debugger' },
      {
        ...typeFinding,
        message: "TS2322: Type 'string' is not assignable to type 'number'",
        cause: 'resurface-type',
      },
      {
        ...assertion,
        test: 'sells four tickets',
        suite: 'rink',
        at: '1) rink',
        message: '24 !== 20',
        cause: 'ticket-price',
      },
      {
        ...nullReference,
        test: 'opens in winter',
        suite: 'rink',
        at: '2) rink',
        message: "Cannot read properties of undefined (reading 'open')",
        cause: 'no-winter',
      },
    ],
  },
  {
    ...createDebianTool('shellcheck'),
    id: 'pipeline-windmill-catch-error',
    runner: 'jenkins pipeline',
    project: 'windmill',
    ci: 'pipeline',
    keepGoing: true,
    skipped: ['Deploy'],
    files: {
      'bin/start.sh': '#!/bin/sh\ncd $MILL_HOME\nexec ./mill $@\n',
      'mill.py': `def flour(sacks):
    return sacks * 38


def sails(wind):
    return wind["speed"] > 4
`,
      'tests/__init__.py': '',
      'tests/test_mill.py': `import unittest

import mill


class MillTest(unittest.TestCase):
    def test_flour(self):
        self.assertEqual(mill.flour(2), 80)

    def test_sails_without_wind(self):
        self.assertFalse(mill.sails({}))
`,
      'wheel.c': 'int turn(int water)\n{\n    return water * speed;\n}\n',
    },
    run: [
      { name: 'Lint', run: 'shellcheck --format=gcc bin/start.sh' },
      { name: 'Build', run: 'gcc -c wheel.c -o wheel.o' },
      { name: 'Test', run: 'python3 -m unittest' },
    ],
    tally: 'FAILED (failures=1, errors=1)',
    failures: [
      ...[
        ["Use 'cd ... || exit' or 'cd ... || return' in case cd fails. [SC2164]", 'bin/start.sh:2:1'],
        ['Double quote to prevent globbing and word splitting. [SC2086]', 'bin/start.sh:2:4'],
        ['Double quote array expansions to avoid re-splitting elements. [SC2068]', 'bin/start.sh:3:'],
      ].map(([message = '', place = '']) => ({ ...finding, message, lines: [place], cause: 'shellcheck' })),
      {
        ...compileError,
        message: '‘speed’ undeclared (first use in this function)',
        cause: 'speed-undeclared',
      },
      {
        ...assertion,
        test: 'test_flour',
        suite: 'tests.test_mill.MillTest',
        at: 'FAIL: test_flour',
        message: 'AssertionError: 76 != 80',
        cause: 'flour',
      },
      {
        ...nullReference,
        test: 'test_sails_without_wind',
        suite: 'tests.test_mill.MillTest',
        at: 'ERROR: test_sails_without_wind',
        message: "KeyError: 'speed'",
        cause: 'no-wind',
      },
    ],
  },
  {
    ...createDebianTool('ruby-rspec', 'ruby'),
    id: 'pipeline-tollhouse-skipped',
    runner: 'jenkins pipeline',
    project: 'tollhouse',
    ci: 'pipeline',
    skipped: ['Package', 'Deploy to staging'],
    files: {
      'lib/toll.rb': 'def toll(axles)\n  axles * 3\nend\n\ndef pass(card)\n  card.owner.name\nend\n',
      'spec/toll_spec.rb': `require_relative '../lib/toll'

RSpec.describe 'toll' do
  it 'of a truck' do
    expect(toll(5)).to eq(14)
  end

  it 'with a card of nobody' do
    expect(pass(Struct.new(:owner).new)).to eq('')
  end

  it 'is listed' do
    expect(File.read('tariff/2026.txt')).to include('axle')
  end
end
`,
    },
    run: [
      { name: 'Build', run: 'ruby -c lib/toll.rb' },
      { name: 'Test', run: 'rspec' },
    ],
    tally: '3 examples, 3 failures',
    failures: [
      {
        ...assertion,
        test: 'toll of a truck',
        at: '1) toll of a truck',
        message: 'got: 15',
        lines: ['expected: 14'],
        cause: 'truck',
      },
      {
        ...nullReference,
        test: 'toll with a card of nobody',
        at: '2) toll with a card',
        message: "undefined method `name' for nil:NilClass",
        cause: 'card-of-nobody',
      },
      {
        ...missingFile,
        test: 'toll is listed',
        at: '3) toll is listed',
        message: 'No such file or directory @ rb_sysopen - tariff/2026.txt',
        cause: 'tariff-file',
      },
    ],
  },
  {
    ...createPipTool('pytest==8.3.4'),
    id: 'steps-report-after-compile-error',
    runner: 'github steps',
    project: 'signal-tower',
    keepGoing: true,
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(tower C)\nadd_executable(tower tower.c)\n',
      'tower.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    struct flag flag;\n    printf("%d\\n", flag.color);\n    return 0;\n}\n',
      'tools/report.py': `import glob
import sys

files = glob.glob("build/reports/*.xml")
if not files:
    sys.exit("Error: no test report found that matches build/reports/*.xml")
`,
    },
    before: 'cmake -S . -B build',
    run: [{ run: 'cmake --build build' }, { run: 'python tools/report.py' }],
    exitCode: 2,
    tally: 'Error: no test report found',
    failures: [
      { ...compileError, message: 'storage size of ‘flag’ isn’t known', cause: 'flag-incomplete' },
      {
        category: 'CODE_ERROR',
        also_ok: ['CONFIG_ERROR', 'TEST_FAILURE'],
        message: 'Error: no test report found that matches build/reports/*.xml',
        cause: 'flag-incomplete',
      },
    ],
  },
  {
    version: 'go version',
    id: 'pipeline-reservoir-parallel',
    runner: 'jenkins pipeline',
    project: 'reservoir',
    ci: 'pipeline',
    keepGoing: true,
    skipped: ['Publish'],
    files: {
      'go.mod': 'module example.test/reservoir\n\ngo 1.22\n',
      'level.go':
        'package reservoir\n\nimport "net"\n\n// Percent of the full height.\nfunc Percent(meters float64) int { return int(meters / 40 * 100) }\n\n// Gauge connects to the gauge.\nfunc Gauge() error {\n\t_, err := net.Dial("tcp", "127.0.0.1:2404")\n\treturn err\n}\n',
      'level_test.go': `package reservoir

import "testing"

func TestPercent(t *testing.T) {
	if got := Percent(31); got != 80 {
		t.Errorf("Percent(31) = %d, want 80", got)
	}
}

func TestGaugeAnswers(t *testing.T) {
	if err := Gauge(); err != nil {
		t.Fatal(err)
	}
}

func TestGaugeIsCalibrated(t *testing.T) {
	if err := Gauge(); err != nil {
		t.Fatal(err)
	}
}
`,
    },
    run: [
      { name: 'Format', run: 'test -z "$(gofmt -l .)"' },
      { name: 'Unit tests', run: 'go test ./...' },
      { name: 'Load settings', run: 'cat settings/production.env' },
    ],
    tally: 'FAIL	example.test/reservoir',
    failures: [
      {
        ...assertion,
        test: 'TestPercent',
        at: '--- FAIL: TestPercent',
        message: 'Percent(31) = 77, want 80',
        cause: 'percent',
      },
      ...['TestGaugeAnswers', 'TestGaugeIsCalibrated'].map((test) => ({
        ...refused,
        test,
        at: `--- FAIL: ${test}`,
        message: 'dial tcp 127.0.0.1:2404: connect: connection refused',
        cause: 'no-gauge',
      })),
      {
        ...missingFile,
        message: 'cat: settings/production.env: No such file or directory',
        cause: 'production-settings',
      },
    ],
  },
];
