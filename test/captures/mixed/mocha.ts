import {
  assertion,
  type MixedBuild,
  missingFile,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createNpmTool } from '../../../scripts/parts/capture/row.ts';

/** Suites of Mocha. */
export const builds: readonly MixedBuild[] = [
  {
    ...createNpmTool('mocha@11', 'chai@5'),
    id: 'mocha-observatory',
    runner: 'mocha',
    project: 'observatory',
    files: {
      'package.json': '{ "name": "observatory", "private": true, "type": "module" }\n',
      'src/telescope.js': `import { readFile } from 'node:fs/promises';
import http from 'node:http';

export function magnitude(star) {
  return star.catalog.magnitude;
}

export function degrees(hours) {
  return hours * 14;
}

export async function catalog() {
  return JSON.parse(await readFile('catalogs/northern.json', 'utf8'));
}

export function dome() {
  return new Promise((resolve, reject) => {
    http.get('http://127.0.0.1:7624/dome', resolve).on('error', reject);
  });
}

export function track(altitude) {
  if (altitude < 0) throw new RangeError('cannot point below the horizon: ' + altitude);
  return altitude;
}
`,
      'test/telescope.spec.js': `import { expect } from 'chai';
import { catalog, degrees, dome, magnitude, track } from '../src/telescope.js';

describe('telescope', () => {
  it('rests at the zenith', () => {
    expect(track(90)).to.equal(90);
  });

  it('turns hours into degrees', () => {
    expect(degrees(6)).to.equal(90);
  });

  it('reads the brightness of a new star', () => {
    expect(magnitude({ name: 'unnamed' })).to.equal(null);
  });

  it('follows a setting star', () => {
    expect(track(-3)).to.equal(0);
  });

  describe('instruments', () => {
    it('open the dome', async () => {
      await dome();
    });

    it('load the northern catalog', async () => {
      expect(await catalog()).to.have.length(12);
    });

    it('cool down before the first picture', function (done) {
      this.timeout(200);
      setTimeout(done, 2_000).unref();
    });
  });

  it('lists what is visible', () => {
    expect(['Vega', 'Deneb']).to.deep.equal(['Deneb', 'Vega']);
  });
});
`,
    },
    run: 'npx mocha --exit "test/**/*.spec.js"',
    exitCode: 7,
    tally: ['7 failing', '1 passing'],
    failures: [
      {
        ...assertion,
        test: 'turns hours into degrees',
        suite: 'telescope',
        at: '1) telescope',
        message: 'expected 84 to equal 90',
        cause: 'degrees-per-hour',
      },
      {
        ...nullReference,
        test: 'reads the brightness of a new star',
        suite: 'telescope',
        at: '2) telescope',
        message: "Cannot read properties of undefined (reading 'magnitude')",
        cause: 'star-without-catalog',
      },
      {
        ...thrown,
        test: 'follows a setting star',
        suite: 'telescope',
        at: '3) telescope',
        message: 'cannot point below the horizon: -3',
        cause: 'below-horizon',
      },
      {
        ...assertion,
        test: 'lists what is visible',
        suite: 'telescope',
        at: '4) telescope',
        message: "expected [ 'Vega', 'Deneb' ] to deeply equal [ 'Deneb', 'Vega' ]",
        cause: 'order-of-stars',
      },
      {
        ...refused,
        test: 'open the dome',
        suite: 'telescope instruments',
        at: '5) telescope',
        message: 'connect ECONNREFUSED 127.0.0.1:7624',
        cause: 'no-dome-server',
      },
      {
        ...missingFile,
        test: 'load the northern catalog',
        suite: 'telescope instruments',
        at: '6) telescope',
        message: "ENOENT: no such file or directory, open 'catalogs/northern.json'",
        cause: 'northern-catalog',
      },
      {
        ...testTimeout,
        test: 'cool down before the first picture',
        suite: 'telescope instruments',
        at: '7) telescope',
        message: 'Timeout of 200ms exceeded',
        cause: 'camera-warm',
      },
    ],
  },
  {
    ...createNpmTool('mocha@10'),
    id: 'mocha-post-office-hook',
    runner: 'mocha',
    project: 'post-office',
    ci: 'jenkins',
    files: {
      'package.json': '{ "name": "post-office", "private": true }\n',
      'lib/parcel.js': `exports.postage = (parcel) => parcel.zone.price + parcel.grams / 100;
exports.label = (parcel) => parcel.to.toUpperCase();
`,
      'test/counter.js': `const assert = require('node:assert');
const net = require('node:net');

describe('counter', () => {
  before((done) => {
    net.connect(5672, '127.0.0.1', done).on('error', done);
  });

  it('queues a parcel', () => assert.ok(true));
  it('queues a letter', () => assert.ok(true));
});
`,
      'test/parcel.js': `const assert = require('node:assert');
const { label, postage } = require('../lib/parcel');

describe('parcel', () => {
  it('within town has no zone', () => {
    assert.strictEqual(postage({ grams: 500 }), 5);
  });

  it('abroad has no zone either', () => {
    assert.strictEqual(postage({ grams: 900 }), 9);
  });

  it('has a label in capitals', () => {
    assert.strictEqual(label({ to: 'Mill Lane 3' }), 'MILL LANE NO. 3');
  });

  it('of a friend is heavier', () => {
    assert.deepStrictEqual({ grams: 750, stamps: ['owl'] }, { grams: 750, stamps: ['owl', 'heron'] });
  });
});
`,
    },
    run: 'npx mocha',
    exitCode: 5,
    tally: '5 failing',
    failures: [
      {
        ...refused,
        suite: 'counter',
        test: '"before all" hook for "queues a parcel"',
        at: '1) counter',
        message: 'connect ECONNREFUSED 127.0.0.1:5672',
        cause: 'no-queue',
      },
      ...['within town has no zone', 'abroad has no zone either'].map((test, index) => ({
        ...nullReference,
        test,
        suite: 'parcel',
        at: `${index + 2}) parcel`,
        message: "Cannot read properties of undefined (reading 'price')",
        cause: 'no-zone',
      })),
      {
        ...assertion,
        test: 'has a label in capitals',
        suite: 'parcel',
        at: '4) parcel',
        message: "- 'MILL LANE NO. 3'",
        lines: ["+ 'MILL LANE 3'"],
        cause: 'label-number',
      },
      {
        ...assertion,
        test: 'of a friend is heavier',
        suite: 'parcel',
        at: '5) parcel',
        message: "'heron'",
        cause: 'heron-stamp',
      },
    ],
  },
  {
    ...createNpmTool('mocha@11'),
    id: 'mocha-ferry-retried',
    runner: 'mocha',
    project: 'ferry',
    files: {
      'package.json': '{ "name": "ferry", "private": true }\n',
      'test/ramp.js': `const assert = require('node:assert');

describe('ramp', function () {
  this.retries(2);
  let tries = 0;

  it('is down when the ferry has landed', () => {
    tries += 1;
    console.log('  ramp sensor: attempt ' + tries + (tries < 3 ? ' AssertionError: ramp is still moving' : ' ok'));
    assert.strictEqual(tries < 3 ? 'moving' : 'down', 'down');
  });
});
`,
      'test/passengers.js': `const assert = require('node:assert');

const deck = new Map([['upper', { seats: 80 }]]);

describe('passengers', () => {
  afterEach(() => {});

  it('fit on the upper deck', () => assert.equal(deck.get('upper').seats, 80));
  it('fit on the lower deck', () => assert.equal(deck.get('lower').seats, 60));
  it('are counted at the gate', () => assert.equal([3, 4].reduce((sum, more) => sum + more), 8));
});
`,
    },
    run: 'npx mocha --reporter spec',
    exitCode: 2,
    tally: ['2 failing', '2 passing'],
    passedOnRetry: ['is down when the ferry has landed'],
    failures: [
      {
        ...nullReference,
        test: 'fit on the lower deck',
        suite: 'passengers',
        at: '1) passengers',
        message: "Cannot read properties of undefined (reading 'seats')",
        cause: 'lower-deck',
      },
      {
        ...assertion,
        test: 'are counted at the gate',
        suite: 'passengers',
        at: '2) passengers',
        message: '7 == 8',
        cause: 'gate-count',
      },
    ],
  },
];
