import {
  assertion,
  type MixedBuild,
  missingFile,
  nullReference,
  ownModule,
  refused,
  snapshot,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createNpmTool } from '../../../scripts/parts/capture/row.ts';

const connect = `const net = require('node:net');

exports.connect = (port) =>
  new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
`;

/** Suites of Jest. */
export const builds: readonly MixedBuild[] = [
  {
    ...createNpmTool('jest@30', 'jest-junit@16'),
    id: 'jest-bakery',
    runner: 'jest',
    project: 'bakery',
    files: {
      'package.json': '{ "name": "bakery", "private": true }\n',
      'src/oven.js': `const minutes = { rye: 50, wheat: 35 };

exports.minutes = (grain) => minutes[grain];
exports.heat = () => new Promise(() => {});
`,
      'src/order.js': `const fs = require('node:fs');
const { connect } = require('./store');

exports.total = (order) => order.price * (1 - order.voucher.percent / 100);
exports.priceList = () => JSON.parse(fs.readFileSync('data/prices.json', 'utf8'));
exports.remember = async () => (await connect(6379)).end();
`,
      'src/store.js': connect,
      'src/label.js':
        "exports.label = (grain, grams) => [grain, grams + ' grams', 'best before Friday'].join('\\n');\n",
      'test/oven.test.js': `const { heat, minutes } = require('../src/oven');

describe('oven', () => {
  test('bakes wheat for 35 minutes', () => {
    expect(minutes('wheat')).toBe(35);
  });

  test('bakes rye for 55 minutes', () => {
    expect(minutes('rye')).toBe(55);
  });

  test('waits until the stone is hot', async () => {
    await heat();
  }, 250);
});
`,
      'test/label.test.js': `const { label } = require('../src/label');

describe('label', () => {
  test('shows grain and weight', () => {
    expect(label('Rye', 750)).toMatchSnapshot();
  });
});
`,
      'test/__snapshots__/label.test.js.snap':
        '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`label shows grain and weight 1`] = `\n"Rye\n750 g\nbest before Friday"\n`;\n',
      'test/order.test.js': `const { priceList, remember, total } = require('../src/order');

describe('order', () => {
  test('sums a full basket', () => {
    expect(total({ price: 20, voucher: { percent: 10 } })).toBe(18);
  });

  test('sums a basket without a voucher', () => {
    expect(total({ price: 20 })).toBe(20);
  });

  test('knows what a loaf costs', () => {
    expect(priceList().rye).toBe(4.2);
  });

  test('is remembered until noon', async () => {
    await remember();
  });
});
`,
    },
    env: { JEST_JUNIT_OUTPUT_NAME: 'report.xml' },
    run: 'npx jest --ci --reporters=default --reporters=jest-junit',
    report: 'report.xml',
    tally: 'Tests:       6 failed, 2 passed, 8 total',
    failures: [
      {
        ...assertion,
        test: 'bakes rye for 55 minutes',
        suite: 'oven',
        at: '● oven › bakes rye for 55 minutes',
        message: 'Received: 50',
        lines: ['Expected: 55'],
        cause: 'rye-minutes',
      },
      {
        ...testTimeout,
        test: 'waits until the stone is hot',
        suite: 'oven',
        at: '● oven › waits until the stone is hot',
        message: 'Exceeded timeout of 250 ms for a test',
        cause: 'stone-never-hot',
      },
      {
        ...snapshot,
        test: 'shows grain and weight',
        suite: 'label',
        at: '● label › shows grain and weight',
        message: '750 grams',
        lines: ['- 750 g'],
        cause: 'label-unit',
      },
      {
        ...nullReference,
        test: 'sums a basket without a voucher',
        suite: 'order',
        at: '● order › sums a basket without a voucher',
        message: "Cannot read properties of undefined (reading 'percent')",
        cause: 'no-voucher',
      },
      {
        ...missingFile,
        test: 'knows what a loaf costs',
        suite: 'order',
        at: '● order › knows what a loaf costs',
        message: "ENOENT: no such file or directory, open 'data/prices.json'",
        cause: 'price-list',
      },
      {
        ...refused,
        test: 'is remembered until noon',
        suite: 'order',
        at: '● order › is remembered until noon',
        message: 'connect ECONNREFUSED 127.0.0.1:6379',
        cause: 'no-redis',
      },
    ],
  },
  {
    ...createNpmTool('jest@29'),
    id: 'jest-clinic-no-database',
    runner: 'jest',
    project: 'clinic',
    files: {
      'package.json': '{ "name": "clinic", "private": true }\n',
      'src/connect.js': connect,
      'test/patients.test.js': `const { connect } = require('../src/connect');

let database;

beforeEach(async () => {
  database = await connect(5432);
});

test('admits a patient', () => {
  expect(database.writable).toBe(true);
});

test('finds a patient by name', () => {
  expect(database.writable).toBe(true);
});

test('discharges a patient', () => {
  expect(database.writable).toBe(true);
});
`,
      'test/beds.test.js': `const { connect } = require('../src/connect');

describe('beds', () => {
  it('counts the free ones', async () => {
    const database = await connect(5432);
    expect(database.writable).toBe(true);
  });
});
`,
      'test/shifts.test.js': `const { hours } = require('../src/hours');

describe('shifts', () => {
  it('last twelve hours at night', () => {
    expect(hours({ night: true })).toEqual({ from: 19, to: 7 });
  });

  it('last eight hours by day', () => {
    expect(hours({ night: false })).toEqual({ from: 7, to: 15 });
  });
});
`,
      'src/hours.js': 'exports.hours = ({ night }) => (night ? { from: 20, to: 7 } : { from: 7, to: 15 });\n',
      'test/ward.test.js':
        "const { ward } = require('../src/wards');\n\ntest('has a ward for children', () => {\n  expect(ward('children')).toBe(3);\n});\n",
    },
    run: 'npx jest --ci --runInBand',
    tally: ['Tests:       5 failed, 1 passed, 6 total', 'Test Suites: 4 failed, 4 total'],
    failures: [
      ...['admits a patient', 'finds a patient by name', 'discharges a patient'].map((test) => ({
        ...refused,
        test,
        at: `● ${test}`,
        message: 'connect ECONNREFUSED 127.0.0.1:5432',
        cause: 'no-database',
      })),
      {
        ...refused,
        test: 'counts the free ones',
        suite: 'beds',
        at: '● beds › counts the free ones',
        message: 'connect ECONNREFUSED 127.0.0.1:5432',
        cause: 'no-database',
      },
      {
        ...assertion,
        test: 'last twelve hours at night',
        suite: 'shifts',
        at: '● shifts › last twelve hours at night',
        message: '"from": 20',
        lines: ['"from": 19'],
        cause: 'night-begins',
      },
      {
        ...ownModule,
        suite: 'test/ward.test.js',
        at: 'FAIL test/ward.test.js',
        message: "Cannot find module '../src/wards' from 'test/ward.test.js'",
        cause: 'wards-module',
      },
    ],
  },
  {
    ...createNpmTool('jest@30'),
    id: 'jest-tram-retried',
    runner: 'jest',
    project: 'tram',
    files: {
      'package.json': '{ "name": "tram", "private": true }\n',
      'test/signals.test.js': `jest.retryTimes(2, { logErrorsBeforeRetry: true });

let tries = 0;

describe('signals', () => {
  test('turns green once the crossing is clear', () => {
    tries += 1;
    expect(tries > 1 ? 'green' : 'amber').toBe('green');
  });

  test('stays red while a tram crosses', () => {
    expect('red').toBe('red');
  });
});
`,
      'test/fares.test.js': `const { fare } = require('../src/fares');

describe('fares', () => {
  test('a child under six rides free', () => {
    expect(fare({ age: 5, zones: ['A'] })).toBe(0);
  });

  test('a day ticket has no zones', () => {
    expect(fare({ age: 30 })).toBe(7.5);
  });

  test('a dog pays half', () => {
    expect(() => fare({ age: 30, zones: ['A', 'B'], dog: true })).not.toThrow();
  });
});
`,
      'src/fares.js': `exports.fare = ({ age, zones, dog }) => {
  if (dog) throw new RangeError('a dog has no fare of its own');
  return age < 6 ? 0 : zones.length * 1.8;
};
`,
    },
    run: 'npx jest --ci --runInBand',
    tally: 'Tests:       2 failed, 3 passed, 5 total',
    passedOnRetry: ['turns green once the crossing is clear'],
    failures: [
      {
        ...nullReference,
        test: 'a day ticket has no zones',
        suite: 'fares',
        at: '● fares › a day ticket has no zones',
        message: "Cannot read properties of undefined (reading 'length')",
        cause: 'no-zones',
      },
      {
        ...thrown,
        test: 'a dog pays half',
        suite: 'fares',
        at: '● fares › a dog pays half',
        message: 'a dog has no fare of its own',
        cause: 'dog-fare',
      },
    ],
  },
  {
    ...createNpmTool('jest@30'),
    id: 'jest-library-green',
    runner: 'jest',
    project: 'library',
    files: {
      'package.json': '{ "name": "library", "private": true }\n',
      'src/loans.js': `exports.lend = (book) => {
  try {
    return book.copies.pop();
  } catch (error) {
    console.error('Error: lending failed', error);
    return null;
  }
};
`,
      'test/loans.test.js': `const { lend } = require('../src/loans');

test('lends nothing when the book has no copies', () => {
  expect(lend({})).toBeNull();
});

test('warns about an overdue book', () => {
  console.warn('FAILED to reach the reader by mail: connect ECONNREFUSED 127.0.0.1:25');
  expect(lend({ copies: [7] })).toBe(7);
});
`,
    },
    run: 'npx jest --ci',
    exitCode: 0,
    tally: 'Tests:       2 passed, 2 total',
    green: true,
    failures: [],
  },
];
