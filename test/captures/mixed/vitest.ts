import {
  assertion,
  brokenFixture,
  type MixedBuild,
  missingFile,
  missingSetting,
  nullReference,
  ownModule,
  refused,
  snapshot,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createNpmTool } from '../../../scripts/parts/capture/row.ts';

/** Suites of Vitest. */
export const builds: readonly MixedBuild[] = [
  {
    ...createNpmTool('vitest@4'),
    id: 'vitest-tram',
    runner: 'vitest',
    project: 'tram-times',
    files: {
      'package.json': '{ "name": "tram-times", "private": true, "type": "module" }\n',
      'src/stops.ts': `import { readFileSync } from 'node:fs';
import net from 'node:net';

export interface Stop {
  name: string;
  platform?: { letter: string };
}

export function nameOnSign(stop: Stop): string {
  return stop.name + ' ' + stop.platform!.letter;
}

export function minutesBetween(stops: number): number {
  return stops * 2;
}

export function holidays(): string[] {
  return readFileSync(new URL('../data/holidays.txt', import.meta.url), 'utf8').split('\\n');
}

export function nextDeparture(): Promise<Date> {
  return new Promise((resolve) => setTimeout(() => resolve(new Date()), 5_000));
}

export function askDepot(): Promise<void> {
  return new Promise((resolve, reject) => {
    net.connect(6379, '127.0.0.1').on('connect', () => resolve()).on('error', reject);
  });
}

export function board(): string {
  return ['11  Harbor   4 min', '11  Museum   9 min'].join('\\n');
}
`,
      'test/stops.test.ts': `import { describe, expect, it } from 'vitest';
import { askDepot, board, holidays, minutesBetween, nameOnSign, nextDeparture } from '../src/stops';

describe('signs', () => {
  it('name the platform', () => {
    expect(nameOnSign({ name: 'Harbor', platform: { letter: 'B' } })).toBe('Harbor B');
  });

  it('name a stop that has only one', () => {
    expect(nameOnSign({ name: 'Museum' })).toBe('Museum');
  });

  it('show the next two trams', () => {
    expect(board()).toMatchInlineSnapshot(\`
      "11  Harbor   4 min
      12  Museum   9 min"
    \`);
  });
});

describe('times', () => {
  it('count three minutes a stop', () => {
    expect(minutesBetween(4)).toBe(12);
  });

  it('know the holidays', () => {
    expect(holidays()).toContain('2026-05-01');
  });

  it('tell the next departure', { timeout: 300 }, async () => {
    expect(await nextDeparture()).toBeInstanceOf(Date);
  });

  it('come from the depot', async () => {
    await askDepot();
  });
});
`,
    },
    run: 'npx vitest run --reporter=default --reporter=junit --outputFile.junit=report.xml',
    report: 'report.xml',
    tally: '6 failed | 1 passed (7)',
    failures: [
      {
        ...nullReference,
        test: 'name a stop that has only one',
        suite: 'signs',
        at: 'FAIL  test/stops.test.ts > signs > name a stop that has only one',
        message: "Cannot read properties of undefined (reading 'letter')",
        cause: 'stop-without-platform',
      },
      {
        ...snapshot,
        test: 'show the next two trams',
        suite: 'signs',
        at: 'FAIL  test/stops.test.ts > signs > show the next two trams',
        message: 'Snapshot `signs > show the next two trams 1` mismatched',
        lines: ['- 12  Museum', '+ 11  Museum'],
        cause: 'line-number',
      },
      {
        ...assertion,
        test: 'count three minutes a stop',
        suite: 'times',
        at: 'FAIL  test/stops.test.ts > times > count three minutes a stop',
        message: 'expected 8 to be 12',
        cause: 'minutes-per-stop',
      },
      {
        ...missingFile,
        test: 'know the holidays',
        suite: 'times',
        at: 'FAIL  test/stops.test.ts > times > know the holidays',
        message: 'ENOENT: no such file or directory, open',
        cause: 'holidays-file',
      },
      {
        ...testTimeout,
        test: 'tell the next departure',
        suite: 'times',
        at: 'FAIL  test/stops.test.ts > times > tell the next departure',
        message: 'Test timed out in 300ms.',
        cause: 'slow-departure',
      },
      {
        ...refused,
        test: 'come from the depot',
        suite: 'times',
        at: 'FAIL  test/stops.test.ts > times > come from the depot',
        message: 'connect ECONNREFUSED 127.0.0.1:6379',
        cause: 'no-depot',
      },
    ],
  },
  {
    ...createNpmTool('vitest@3'),
    id: 'vitest-museum-missing-setting',
    runner: 'vitest',
    project: 'museum',
    files: {
      'package.json': '{ "name": "museum", "private": true, "type": "module" }\n',
      'src/settings.ts': `export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error('the setting ' + name + ' is missing');
  return value;
}
`,
      'src/archive.ts':
        "import { setting } from './settings';\n\nexport const archive = () => ({ url: setting('MUSEUM_ARCHIVE_URL') });\n",
      'test/rooms.test.ts': `import { expect, test } from 'vitest';
import { archive } from '../src/archive';

test('lists the rooms of the east wing', () => expect(archive().url).toMatch(/^http/));
test('lists the rooms of the west wing', () => expect(archive().url).toMatch(/^http/));
test('has a room without windows', () => expect([1, 2, 3].length).toBe(3));
`,
      'test/loans.test.ts': `import { describe, expect, test } from 'vitest';
import { archive } from '../src/archive';

describe('loans', () => {
  test('are kept for a year', () => expect(archive().url).toMatch(/^http/));
  test('are insured by weight', () => expect({ kilograms: 12, premium: 240 }).toEqual({ kilograms: 12, premium: 260 }));
});
`,
      'test/tickets.test.ts':
        "import { expect, test } from 'vitest';\nimport { price } from '../src/tickets/price';\n\ntest('a child pays nothing', () => expect(price(6)).toBe(0));\n",
      'test/guides.test.ts': `import { afterEach, beforeAll, describe, expect, test } from 'vitest';

describe('guides', () => {
  let tours: Map<string, number>;

  beforeAll(() => {
    tours = new Map(Object.entries(JSON.parse('{"noon": 12, "dusk" 19}')));
  });

  test('start a tour at noon', () => expect(tours.get('noon')).toBe(12));
  test('start a tour at dusk', () => expect(tours.get('dusk')).toBe(19));
});
`,
    },
    run: 'npx vitest run',
    tally: ['Tests  4 failed | 1 passed | 2 skipped (7)', 'Test Files  4 failed (4)'],
    failures: [
      ...['lists the rooms of the east wing', 'lists the rooms of the west wing'].map((test) => ({
        ...missingSetting,
        test,
        at: `FAIL  test/rooms.test.ts > ${test}`,
        message: 'the setting MUSEUM_ARCHIVE_URL is missing',
        cause: 'archive-url',
      })),
      {
        ...missingSetting,
        test: 'are kept for a year',
        suite: 'loans',
        at: 'FAIL  test/loans.test.ts > loans > are kept for a year',
        message: 'the setting MUSEUM_ARCHIVE_URL is missing',
        cause: 'archive-url',
      },
      {
        ...assertion,
        test: 'are insured by weight',
        suite: 'loans',
        at: 'FAIL  test/loans.test.ts > loans > are insured by weight',
        message: '"premium": 240',
        lines: ['"premium": 260'],
        cause: 'premium',
      },
      {
        ...ownModule,
        suite: 'test/tickets.test.ts',
        at: 'FAIL  test/tickets.test.ts',
        message: "Cannot find module '../src/tickets/price'",
        cause: 'price-module',
      },
      {
        ...brokenFixture,
        suite: 'guides',
        at: 'FAIL  test/guides.test.ts > guides',
        message: 'Unexpected number in JSON at position 20',
        cause: 'tours-json',
      },
    ],
  },
  {
    ...createNpmTool('vitest@4'),
    id: 'vitest-greenhouse-retried',
    runner: 'vitest',
    project: 'greenhouse',
    files: {
      'package.json': '{ "name": "greenhouse", "private": true, "type": "module" }\n',
      'src/vents.ts': `export function openVents(celsius: number): number {
  if (celsius > 60) throw new RangeError('sensor reads ' + celsius + ' degrees');
  return celsius > 24 ? 2 : 1;
}
`,
      'test/vents.test.ts': `import { expect, test } from 'vitest';
import { openVents } from '../src/vents';

let tries = 0;

test('the fan has come to rest', { retry: 2 }, () => {
  tries += 1;
  expect(tries === 1 ? 'turning' : 'resting').toBe('resting');
});

test('a cold night closes all vents', () => {
  expect(openVents(4)).toBe(0);
});

test('a broken sensor opens none', () => {
  expect(openVents(88)).toBe(0);
});
`,
    },
    run: 'npx vitest run --reporter=verbose',
    tally: '2 failed | 1 passed (3)',
    passedOnRetry: ['the fan has come to rest'],
    failures: [
      {
        ...assertion,
        test: 'a cold night closes all vents',
        at: 'FAIL  test/vents.test.ts > a cold night closes all vents',
        message: 'expected 1 to be +0',
        cause: 'cold-night',
      },
      {
        ...thrown,
        test: 'a broken sensor opens none',
        at: 'FAIL  test/vents.test.ts > a broken sensor opens none',
        message: 'sensor reads 88 degrees',
        cause: 'broken-sensor',
      },
    ],
  },
];
