import { create, type Program, replace } from './program.ts';

const PACKAGE = create('package.json', '{ "name": "planted", "version": "1.0.0", "type": "module" }');
const TEST = [process.execPath, '--test'];

const hooks: Program = {
  name: 'plug-in hooks',
  language: 'JavaScript',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin the plug-in host',
      edits: [
        PACKAGE,
        create('README.md', '# Hooks', '', 'Runs plug-ins.'),
        create('src/settings.js', 'export const settings = {', '  batchSize: 3,', "  label: 'hooks',", '};'),
        create(
          'src/hooks.js',
          "import { settings } from './settings.js';",
          '',
          'export function collectHooks(plugins, event) {',
          '  const found = [];',
          '  for (const plugin of plugins) {',
          '    const hook = plugin.hooks[event];',
          '    found.push({ name: plugin.name, run: hook });',
          '  }',
          '  return found;',
          '}',
          '',
          'export function runHooks(plugins, event, payload) {',
          '  let value = payload;',
          '  for (const hook of collectHooks(plugins, event)) {',
          '    value = hook.run(value);',
          '  }',
          '  return value;',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Skip plug-ins without the hook',
      edits: [
        replace(
          'src/hooks.js',
          '    found.push({',
          `    if (hook === undefined) {
      continue;
    }
    found.push({`,
        ),
      ],
    },
    {
      author: 'Ada Brook',
      message: 'Add batches, retries and tests',
      edits: [
        {
          path: 'src/hooks.js',
          from: `  return value;
}
`,
          to: `  return value;
}

export function firstBatch(plugins, event) {
  return collectHooks(plugins, event).slice(0, settings.batchSize);
}

export function countRetries(failures, most = 5) {
  let retries = 0;
  while (retries < failures && retries < most) {
    retries += 1;
  }
  return retries;
}
`,
        },
        create(
          'test/hooks.test.js',
          "import assert from 'node:assert/strict';",
          "import { test } from 'node:test';",
          "import { countRetries, firstBatch, runHooks } from '../src/hooks.js';",
          '',
          'const twice = { name: "twice", hooks: { load: (value) => value * 2 } };',
          'const idle = { name: "idle", hooks: {} };',
          '',
          "test('runs the hooks of an event in order', () => {",
          "  assert.equal(runHooks([twice, idle, twice], 'load', 3), 12);",
          '});',
          '',
          "test('takes the first batch', () => {",
          "  assert.equal(firstBatch([twice, twice, twice, twice], 'load').length, 3);",
          '});',
          '',
          "test('retries five times by default', () => {",
          '  assert.equal(countRetries(9), 5);',
          '});',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Say what a plug-in is',
      edits: [replace('README.md', 'Runs plug-ins.', 'Runs plug-ins. A plug-in is an object with hooks.')],
    },
    {
      author: 'Dora Lind',
      message: 'Describe plug-ins',
      edits: [
        replace(
          'src/hooks.js',
          "import { settings } from './settings.js';\n",
          `import { settings } from './settings.js';

/** Names a plug-in for people. */
export function describePlugin(plugin) {
  return settings.label + plugin.name;
}
`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Let settings be frozen',
      edits: [
        replace(
          'src/settings.js',
          "  label: 'hooks',\n};",
          `  label: 'hooks',
};

Object.freeze(settings);`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Tidy the end of the module',
      edits: [
        replace(
          'src/hooks.js',
          `  return retries;
}
`,
          `  return retries;
}

export function hasHook(plugin, event) {
  return Object.hasOwn(plugin.hooks, event);
}
`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Simplify the collection of hooks',
      edits: [
        replace(
          'src/hooks.js',
          `    if (hook === undefined) {
      continue;
    }
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Give up earlier',
      edits: [
        replace('src/hooks.js', 'countRetries(failures, most = 5)', 'countRetries(failures, most = 3)'),
      ],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Shorten the names of settings',
      edits: [replace('src/settings.js', '  batchSize: 3,', '  batch: 3,')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Bound the batch',
      edits: [replace('src/hooks.js', '.slice(0, settings.batchSize)', '.slice(0, settings.batchSize - 1)')],
    },
  },
};

const invoices: Program = {
  name: 'invoices',
  language: 'JavaScript',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin invoices',
      edits: [
        PACKAGE,
        create('config/rates.json', '{', '  "standardRate": 0.2,', '  "reducedRate": 0.05', '}'),
        create(
          'lib/rates.js',
          "import { readFileSync } from 'node:fs';",
          '',
          "const rates = JSON.parse(readFileSync(new URL('../config/rates.json', import.meta.url), 'utf8'));",
          '',
          "export function findRate(kind = 'standard') {",
          "  return kind === 'reduced' ? rates.reducedRate : rates.standardRate;",
          '}',
        ),
        create(
          'lib/invoice.js',
          "import { findRate } from './rates.js';",
          '',
          'export function sumLines(lines) {',
          '  let sum = 0;',
          '  for (let i = 0; i < lines.length; i += 1) {',
          '    sum += lines[i].price * lines[i].count;',
          '  }',
          '  return sum;',
          '}',
          '',
          'export function formatCustomer(customer) {',
          '  const company = customer.company;',
          '  const name = company.name.trim();',
          '  return name.concat(" ", customer.id);',
          '}',
          '',
          'export function computeTotal(lines, kind) {',
          '  const net = sumLines(lines);',
          '  return Math.round(net * (1 + findRate(kind)));',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Accept private customers',
      edits: [
        replace(
          'lib/invoice.js',
          '  const name = company.name.trim();',
          `  if (!company) return "private ".concat(customer.id);
  const name = company.name.trim();`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test invoices',
      edits: [
        create(
          'test/invoice.test.js',
          "import assert from 'node:assert/strict';",
          "import { describe, it } from 'node:test';",
          "import { computeTotal, formatCustomer, sumLines } from '../lib/invoice.js';",
          '',
          'const lines = [{ price: 100, count: 2 }, { price: 50, count: 1 }];',
          '',
          "describe('invoice', () => {",
          "  it('sums all lines', () => {",
          '    assert.equal(sumLines(lines), 250);',
          '  });',
          '',
          "  it('adds the standard rate', () => {",
          '    assert.equal(computeTotal([{ price: 100, count: 2 }, { price: 50, count: 1 }]), 300);',
          '  });',
          '',
          "  it('names private customers', () => {",
          "    assert.equal(formatCustomer({ id: 7 }), 'private 7');",
          '  });',
          '});',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Add a change log',
      edits: [create('CHANGELOG.md', '# Changes', '', '- Private customers.')],
    },
    {
      author: 'Dora Lind',
      message: 'Export the currency',
      edits: [
        replace(
          'lib/invoice.js',
          "from './rates.js';\n",
          `from './rates.js';

export const CURRENCY = 'EUR';
`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Test an empty invoice',
      edits: [
        replace(
          'test/invoice.test.js',
          "  it('names private",
          "  it('sums nothing to nothing', () => {\n    assert.equal(sumLines([]), 0);\n  });\n\n  it('names private",
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'List the kinds of rates',
      edits: [
        replace(
          'lib/rates.js',
          'export function findRate',
          `export const KINDS = ['standard', 'reduced'];

export function findRate`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Remove an early return',
      edits: [
        replace(
          'lib/invoice.js',
          `  if (!company) return "private ".concat(customer.id);
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Use the reduced rate for books',
      edits: [replace('lib/rates.js', "findRate(kind = 'standard')", "findRate(kind = 'reduced')")],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Call the rates by their usual names',
      edits: [replace('config/rates.json', '"standardRate"', '"fullRate"')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Include the last line',
      edits: [replace('lib/invoice.js', 'i < lines.length', 'i <= lines.length')],
    },
  },
};

const routes: Program = {
  name: 'routes',
  language: 'JavaScript',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin the router',
      edits: [
        PACKAGE,
        create('src/limits.js', 'export const limits = { maxDepth: 4, pageLength: 10 };'),
        create(
          'src/router.js',
          'const routes = new Map();',
          '',
          'export function addRoute(path, handler) {',
          '  routes.set(path, handler);',
          '}',
          '',
          'export function dispatch(request) {',
          '  const handler = routes.get(request.path);',
          '  const response = handler(request);',
          '  return { status: 200, ...response };',
          '}',
        ),
        create(
          'src/paging.js',
          "import { limits } from './limits.js';",
          '',
          'export function pageOf(items, page) {',
          '  const start = page * limits.pageLength;',
          '  return items.slice(start, start + limits.pageLength);',
          '}',
          '',
          'export function depthOf(path) {',
          "  return path.split('/').filter((part) => part !== '').length;",
          '}',
          '',
          'export function parseQuery(text, { separator = "&" } = {}) {',
          "  return Object.fromEntries(text.split(separator).map((pair) => pair.split('=')));",
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Answer unknown paths',
      edits: [
        replace(
          'src/router.js',
          '  const response = handler(request);',
          `  if (typeof handler !== "function") {
    return { status: 404 };
  }
  const response = handler(request);`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test the router',
      edits: [
        create(
          'test/router.test.js',
          "import assert from 'node:assert/strict';",
          "import { test } from 'node:test';",
          "import { addRoute, dispatch } from '../src/router.js';",
          '',
          "test('answers 404 for an unknown path', () => {",
          "  addRoute('/', () => ({ body: 'home' }));",
          "  assert.equal(dispatch({ path: '/nowhere' }).status, 404);",
          '});',
        ),
        create(
          'test/paging.test.js',
          "import assert from 'node:assert/strict';",
          "import { test } from 'node:test';",
          "import { pageOf, parseQuery } from '../src/paging.js';",
          '',
          'const items = Array.from({ length: 25 }, (_, i) => i);',
          '',
          "test('cuts pages', () => {",
          '  assert.deepEqual(pageOf(items, 2), [20, 21, 22, 23, 24]);',
          '  assert.equal(pageOf(items, 0).length, 10);',
          '});',
          '',
          "test('reads a query', () => {",
          "  assert.deepEqual(parseQuery('a=1&b=2'), { a: '1', b: '2' });",
          '});',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Document the router',
      edits: [create('docs/router.md', '# Router', '', 'Add routes, then dispatch.')],
    },
    {
      author: 'Dora Lind',
      message: 'Count routes',
      edits: [
        replace(
          'src/router.js',
          'export function dispatch',
          `export function countRoutes() {
  return routes.size;
}

export function dispatch`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Explain the depth',
      edits: [
        replace(
          'src/paging.js',
          'export function depthOf',
          `/** Counts the parts of a path. */
export function depthOf`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Name the methods',
      edits: [
        replace(
          'src/router.js',
          'const routes = new Map();',
          `export const METHODS = ['GET', 'PUT'];

const routes = new Map();`,
        ),
      ],
    },
    {
      author: 'Gil Moss',
      message: 'Deepen the limit',
      edits: [replace('src/limits.js', 'maxDepth: 4', 'maxDepth: 6')],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Trust the routing table',
      edits: [
        replace(
          'src/router.js',
          `  if (typeof handler !== "function") {
    return { status: 404 };
  }
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Separate by semicolons',
      edits: [replace('src/paging.js', 'separator = "&"', 'separator = ";"')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Rename a limit',
      edits: [replace('src/limits.js', 'pageLength: 10', 'pageSize: 10')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Count pages from one',
      edits: [replace('src/paging.js', 'page * limits.pageLength', '(page - 1) * limits.pageLength')],
    },
  },
};

export const JAVASCRIPT_PROGRAMS: readonly Program[] = [hooks, invoices, routes];
