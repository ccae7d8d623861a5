import {
  assertion,
  finding,
  type MixedBuild,
  missingSetting,
  nullReference,
  refused,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createNpmTool, createPipTool } from '../../../scripts/parts/capture/row.ts';

const unreachable = { category: 'INFRA_ERROR', also_ok: ['CONFIG_ERROR'], kind: 'network' } as const;

/** Jobs of one run that fail, each with its own log. */
export const builds: readonly MixedBuild[] = [
  {
    ...createNpmTool('eslint@9', '@eslint/js@9', 'jest@30'),
    id: 'jobs-aquarium',
    runner: 'github jobs',
    project: 'aquarium',
    network: 'none',
    files: {
      'package.json': '{ "name": "aquarium", "private": true }\n',
      'eslint.config.js':
        "const js = require('@eslint/js');\n\nmodule.exports = [js.configs.recommended, { languageOptions: { globals: { exports: true, require: true } } }];\n",
      'src/tank.js': `const shark = 1;

exports.liters = (length, width, depth) => (length * width * depth) / 1000;
exports.oldest = (fish) => fish.sort((a, b) => b.age - a.age)[0].name;
`,
      'test/tank.test.js': `const { liters, oldest } = require('../src/tank');

test('a tank of one meter', () => {
  expect(liters(100, 50, 40)).toBe(220);
});

test('the oldest fish of an empty tank', () => {
  expect(oldest([])).toBeNull();
});
`,
    },
    jobs: [
      { name: 'lint', exitCode: 1, steps: [{ run: 'npx eslint src' }] },
      { name: 'unit tests', exitCode: 1, steps: [{ run: 'npx jest --ci' }] },
      {
        name: 'deploy preview',
        exitCode: 6,
        steps: [
          {
            run: 'tar --create --file=site.tar src\ncurl --fail --silent --show-error --upload-file site.tar http://preview.example.test/aquarium',
          },
        ],
      },
    ],
    tally: ['Tests:       2 failed, 2 total', '1 problem (1 error, 0 warnings)'],
    failures: [
      {
        ...finding,
        log: 'lint',
        message: "'shark' is assigned a value but never used",
        cause: 'unused-shark',
      },
      {
        ...assertion,
        log: 'unit tests',
        test: 'a tank of one meter',
        at: '● a tank of one meter',
        message: 'Received: 200',
        lines: ['Expected: 220'],
        cause: 'liters',
      },
      {
        ...nullReference,
        log: 'unit tests',
        test: 'the oldest fish of an empty tank',
        at: '● the oldest fish of an empty tank',
        message: "Cannot read properties of undefined (reading 'name')",
        cause: 'empty-tank',
      },
      {
        ...unreachable,
        log: 'deploy preview',
        message: 'curl: (6) Could not resolve host: preview.example.test',
        cause: 'preview-host',
      },
    ],
  },
  {
    ...createPipTool('pytest==8.3.4'),
    id: 'jobs-sundial-matrix',
    runner: 'github jobs',
    project: 'sundial',
    files: {
      'sundial.py': `import os
from datetime import date


def shadow(hour):
    return abs(12 - hour) * 15


def title(day):
    return day.strftime("%d %B")


def place():
    return os.environ["SUNDIAL_PLACE"]
`,
      'test_sundial.py': `import os
from datetime import date

import pytest

from sundial import place, shadow, title


def test_shadow_in_the_afternoon():
    assert shadow(15) == 50


def test_title_of_the_longest_day():
    assert title(date(2026, 6, 21)) == "21 June"


@pytest.mark.skipif("FULL" not in os.environ, reason="only in the full job")
def test_place():
    assert place() == "Greenwich"
`,
    },
    jobs: [
      { name: 'test (utc)', exitCode: 1, steps: [{ run: 'TZ=UTC python -m pytest' }] },
      { name: 'test (tokyo)', exitCode: 1, steps: [{ run: 'TZ=Asia/Tokyo python -m pytest' }] },
      { name: 'test (full)', exitCode: 1, steps: [{ run: 'FULL=1 python -m pytest' }] },
      {
        name: 'test (slow)',
        exitCode: 124,
        steps: [
          {
            run: 'python -c "import time; print(\'waiting for a free runner\', flush=True); time.sleep(60)"',
            cancelAfter: 3,
          },
        ],
      },
    ],
    tally: ['2 failed, 1 passed', '1 failed, 1 passed, 1 skipped'],
    failures: [
      ...['test (utc)', 'test (tokyo)', 'test (full)'].map((log) => ({
        ...assertion,
        log,
        test: 'test_shadow_in_the_afternoon',
        at: '___ test_shadow_in_the_afternoon ___',
        message: 'assert 45 == 50',
        cause: 'shadow',
      })),
      {
        ...missingSetting,
        log: 'test (full)',
        test: 'test_place',
        at: '___ test_place ___',
        message: "KeyError: 'SUNDIAL_PLACE'",
        cause: 'place-setting',
      },
    ],
  },
  {
    ...createNpmTool('@playwright/test@1.49'),
    id: 'jobs-two-shops',
    runner: 'github jobs',
    project: 'two-shops',
    files: {
      'package.json': '{ "name": "two-shops", "private": true }\n',
      'books/playwright.config.js': "module.exports = { testDir: '.', workers: 1 };\n",
      'books/checkout.spec.js': `const { expect, test } = require('@playwright/test');

test('pays for the basket', async () => {
  const basket = { books: 3, total: 41.5 };
  expect(basket.total, 'total of three books').toBe(39.5);
});

test('shows the receipt', async () => {
  const receipt = {};
  expect(receipt.lines.length).toBe(3);
});
`,
      'flowers/playwright.config.js': "module.exports = { testDir: '.', workers: 1 };\n",
      'flowers/checkout.spec.js': `const { expect, test } = require('@playwright/test');

test('pays for the basket', async ({ request }) => {
  await request.post('http://127.0.0.1:7443/pay', { data: { tulips: 12 } });
});

test('shows the receipt', async () => {
  expect(['12 tulips', '1 vase']).toEqual(['12 tulips', '1 ribbon']);
});
`,
    },
    jobs: [
      {
        name: 'e2e-books',
        exitCode: 1,
        steps: [{ run: 'npx playwright test --config books --reporter=list' }],
      },
      {
        name: 'e2e-flowers',
        exitCode: 1,
        steps: [{ run: 'npx playwright test --config flowers --reporter=list' }],
      },
    ],
    tally: '2 failed',
    failures: [
      {
        ...assertion,
        log: 'e2e-books',
        test: 'pays for the basket',
        at: '1) checkout.spec.js',
        message: 'Error: total of three books',
        lines: ['Expected: 39.5', 'Received: 41.5'],
        cause: 'total-of-books',
      },
      {
        ...nullReference,
        log: 'e2e-books',
        test: 'shows the receipt',
        at: '2) checkout.spec.js',
        message: "Cannot read properties of undefined (reading 'length')",
        cause: 'empty-receipt',
      },
      {
        ...refused,
        log: 'e2e-flowers',
        test: 'pays for the basket',
        at: '1) checkout.spec.js',
        message: 'apiRequestContext.post: connect ECONNREFUSED 127.0.0.1:7443',
        cause: 'no-bank',
      },
      {
        ...assertion,
        log: 'e2e-flowers',
        test: 'shows the receipt',
        at: '2) checkout.spec.js',
        message: '"1 vase"',
        lines: ['"1 ribbon"'],
        cause: 'vase',
      },
    ],
  },
  {
    version: 'go version',
    id: 'jobs-postal-museum',
    runner: 'github jobs',
    project: 'postal-museum',
    files: {
      'go.mod': 'module example.test/stamps\n\ngo 1.22\n',
      'stamps.go':
        'package stamps\n\n// Value in cents.\nfunc Value(name string) int { return map[string]*struct{ cents int }{"penny": {1}}[name].cents }\n\n// Album holds pages.\nfunc Album(stamps int) int { return stamps / 30 }\n',
      'stamps_test.go': `package stamps

import "testing"

func TestAlbum(t *testing.T) {
	if got := Album(70); got != 3 {
		t.Fatalf("Album(70) = %d, want 3", got)
	}
}

func TestValueOfUnknownStamp(t *testing.T) {
	if got := Value("mauritius"); got != 0 {
		t.Fatalf("got %d", got)
	}
}
`,
      'tools/guide.py':
        'import sys\n\n\ndef main():\n    rooms = {"stamps": 2}\n    sys.exit("guide: room \'telegraph\' has no text") if "telegraph" not in rooms else None\n\n\nmain()\n',
      'docs/index.md': '# Museum\n',
    },
    jobs: [
      { name: 'go', exitCode: 1, steps: [{ run: 'go build ./...' }, { run: 'go test ./...' }] },
      { name: 'guide', exitCode: 1, steps: [{ run: 'python tools/guide.py' }] },
      {
        name: 'installer',
        exitCode: 1,
        steps: [
          { run: 'go env GOOS' },
          { run: 'test -f tools/icon.ico || { echo "Error: tools/icon.ico: file not found"; exit 1; }' },
        ],
      },
    ],
    tally: 'FAIL	example.test/stamps',
    failures: [
      {
        ...assertion,
        log: 'go',
        test: 'TestAlbum',
        at: '--- FAIL: TestAlbum',
        message: 'Album(70) = 2, want 3',
        cause: 'album',
      },
      {
        ...nullReference,
        log: 'go',
        test: 'TestValueOfUnknownStamp',
        at: '--- FAIL: TestValueOfUnknownStamp',
        message: 'panic: runtime error: invalid memory address or nil pointer dereference',
        lines: ['stamps.go:4'],
        cause: 'unknown-stamp',
      },
      {
        category: 'CODE_ERROR',
        also_ok: ['CONFIG_ERROR'],
        log: 'guide',
        message: "guide: room 'telegraph' has no text",
        cause: 'telegraph-room',
      },
      {
        category: 'CONFIG_ERROR',
        also_ok: ['CODE_ERROR'],
        kind: 'missing_file',
        log: 'installer',
        message: 'Error: tools/icon.ico: file not found',
        cause: 'icon-file',
      },
    ],
  },
];
