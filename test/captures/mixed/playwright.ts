import {
  assertion,
  brokenFixture,
  type MixedBuild,
  nullReference,
  refused,
  snapshot,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createNpmTool } from '../../../scripts/parts/capture/row.ts';

const server = `const { createServer } = require('node:http');

let visits = 0;

createServer((request, response) => {
  if (request.url === '/menu') return response.end('leek soup\\ntrout\\nplum cake\\n');
  if (request.url === '/tables') return response.end(JSON.stringify({ free: 3 }));
  if (request.url === '/slow') return;
  if (request.url === '/visits') {
    visits += 1;
    return response.end(String(visits));
  }
  response.statusCode = request.url === '/' ? 200 : 404;
  response.end();
}).listen(4173);
`;

function writeConfig(retries: number): string {
  return `const { defineConfig } = require('@playwright/test');

module.exports = defineConfig({
  testDir: 'e2e',
  workers: 1,
  retries: ${retries},
  reporter: [['list'], ['junit', { outputFile: 'report.xml' }]],
  use: { baseURL: 'http://127.0.0.1:4173' },
  webServer: { command: 'node server.js', url: 'http://127.0.0.1:4173' },
});
`;
}

/** Suites of Playwright that test an interface, so that they need no browser. */
export const builds: readonly MixedBuild[] = [
  {
    ...createNpmTool('@playwright/test@1.49'),
    id: 'playwright-restaurant',
    runner: 'playwright',
    project: 'restaurant',
    files: {
      'package.json': '{ "name": "restaurant", "private": true }\n',
      'server.js': server,
      'playwright.config.js': writeConfig(0),
      'e2e/menu.spec.js': `const { expect, test } = require('@playwright/test');

test('has a front page', async ({ request }) => {
  expect((await request.get('/')).status()).toBe(200);
});

test('has a page for wine', async ({ request }) => {
  expect((await request.get('/wine')).status()).toBe(200);
});

test('prints the menu', async ({ request }) => {
  expect(await (await request.get('/menu')).text()).toMatchSnapshot('menu.txt');
});

test.describe('tables', () => {
  test('are free at noon', async ({ request }) => {
    const { noon } = await (await request.get('/tables')).json();
    expect(noon.free).toBeGreaterThan(0);
  });

  test('are booked by telephone', async ({ request }) => {
    await request.post('http://127.0.0.1:5061/call');
  });

  test('are laid in time', async ({ request }) => {
    test.setTimeout(700);
    await request.get('/slow');
  });
});
`,
      'e2e/menu.spec.js-snapshots/menu-linux.txt': 'leek soup\npike\nplum cake\n',
    },
    run: 'npx playwright test',
    report: 'report.xml',
    tally: ['5 failed', '1 passed'],
    failures: [
      {
        ...assertion,
        test: 'has a page for wine',
        at: '1) menu.spec.js',
        message: 'Received: 404',
        lines: ['Expected: 200'],
        cause: 'wine-page',
      },
      {
        ...snapshot,
        test: 'prints the menu',
        at: '2) menu.spec.js',
        message: 'menu.spec.js-snapshots/menu-linux.txt',
        lines: ['toMatchSnapshot(', 'piketrout'],
        cause: 'main-course',
      },
      {
        ...nullReference,
        test: 'are free at noon',
        suite: 'tables',
        at: '3) menu.spec.js',
        message: "Cannot read properties of undefined (reading 'free')",
        cause: 'no-noon',
      },
      {
        ...refused,
        test: 'are booked by telephone',
        suite: 'tables',
        at: '4) menu.spec.js',
        message: 'apiRequestContext.post: connect ECONNREFUSED 127.0.0.1:5061',
        cause: 'no-telephone',
      },
      {
        ...testTimeout,
        test: 'are laid in time',
        suite: 'tables',
        at: '5) menu.spec.js',
        message: 'Test timeout of 700ms exceeded.',
        cause: 'slow-table',
      },
    ],
  },
  {
    ...createNpmTool('@playwright/test@1.49'),
    id: 'playwright-swimming-pool-retries',
    runner: 'playwright',
    project: 'swimming-pool',
    files: {
      'package.json': '{ "name": "swimming-pool", "private": true }\n',
      'server.js': server,
      'playwright.config.js': writeConfig(1),
      'e2e/pool.spec.js': `const { expect, test: base } = require('@playwright/test');

const test = base.extend({
  lane: async ({}, use) => {
    const lanes = JSON.parse('[{"number": 1}, {"number" 2}]');
    await use(lanes[0]);
  },
});

test('counts the visitors', async ({ request }) => {
  const visits = Number(await (await request.get('/visits')).text());
  expect(visits, 'visitors of the day').toBeGreaterThan(1);
});

test('has a lane for children', async ({ lane }) => {
  expect(lane.number).toBe(1);
});

test('has a lane for divers', async ({ lane }) => {
  expect(lane.number).toBe(2);
});

test('is heated', async ({ request }) => {
  const { free } = await (await request.get('/tables')).json();
  expect(free, 'degrees of the water').toBe(26);
});

test('closes at night', async () => {
  throw new Error('the pump is not allowed to run after 22:00');
});
`,
    },
    run: 'npx playwright test',
    report: 'report.xml',
    tally: ['4 failed', '1 flaky'],
    passedOnRetry: ['counts the visitors'],
    failures: [
      ...['has a lane for children', 'has a lane for divers'].map((test, index) => ({
        ...brokenFixture,
        test,
        at: `${index + 1}) pool.spec.js`,
        message: "SyntaxError: Expected ':' after property name in JSON at position 26",
        cause: 'lanes-json',
      })),
      {
        ...assertion,
        test: 'is heated',
        at: '3) pool.spec.js',
        message: 'Error: degrees of the water',
        lines: ['Expected: 26', 'Received: 3'],
        cause: 'cold-water',
      },
      {
        ...thrown,
        test: 'closes at night',
        at: '4) pool.spec.js',
        message: 'Error: the pump is not allowed to run after 22:00',
        cause: 'pump-at-night',
      },
    ],
  },
];
