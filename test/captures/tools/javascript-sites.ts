import { createNpmTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of npm that ask a server or measure what was built. */
export const rows: readonly ToolRow[] = [
  {
    ...createNpmTool('newman@6'),
    slug: 'newman-refused',
    tool: 'newman',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'prices.json':
        '{\n  "info": { "name": "Prices", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },\n  "item": [{ "name": "Tea", "request": { "method": "GET", "url": "http://payments.example.test:8080/tea" } }]\n}\n',
    },
    network: 'none',
    run: 'npx newman run prices.json',
    exitCode: 1,
    telling: ['connect ECONNREFUSED'],
  },
  {
    ...createNpmTool('newman@6'),
    slug: 'newman-assertion',
    tool: 'newman',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['INFRA_ERROR'],
    files: {
      'prices.json': `{
  "info": { "name": "Prices", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
  "item": [{
    "name": "Tea",
    "request": { "method": "GET", "url": "http://packages.example.test/tea" },
    "event": [{ "listen": "test", "script": { "exec": ["pm.test('Tea has a price', () => pm.response.to.have.status(200));"] } }]
  }]
}
`,
    },
    network: 'unavailable',
    run: 'npx newman run prices.json --color off',
    exitCode: 1,
    telling: ['expected response to have status code 200 but got 503'],
  },
  {
    ...createNpmTool('wait-on@8'),
    slug: 'wait-on-timeout',
    tool: 'wait-on',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR', 'INFRA_ERROR'],
    files: {
      'server.js':
        "require('node:http').createServer((request, response) => response.end('ok')).listen(Number(process.env.PORT ?? 4000), '127.0.0.1');\n",
    },
    network: 'none',
    run: 'node server.js & npx wait-on --timeout 3000 http-get://127.0.0.1:3000/health',
    exitCode: 1,
    telling: ['Timed out waiting for: http-get://127.0.0.1:3000/health'],
  },
  {
    ...createNpmTool('linkinator@6'),
    slug: 'linkinator-broken-link',
    tool: 'linkinator',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'site/index.html': '<a href="menu.html">Menu</a> <a href="hours.html">Hours</a>\n',
      'site/menu.html': '<a href="index.html">Home</a>\n',
    },
    green: { 'site/hours.html': '<a href="index.html">Home</a>\n' },
    run: 'npx linkinator site --recurse',
    exitCode: 1,
    telling: ['[404] site/hours.html'],
  },
  {
    ...createNpmTool('size-limit@11', '@size-limit/file@11'),
    slug: 'size-limit-exceeded',
    tool: 'size-limit',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json':
        '{ "name": "gull", "devDependencies": { "size-limit": "11", "@size-limit/file": "11" }, "size-limit": [{ "path": "dist/gull.js", "limit": "60 B", "gzip": true }] }\n',
      'dist/gull.js':
        "const names = ['herring gull', 'black-headed gull', 'kittiwake', 'ivory gull', 'glaucous gull', 'ring-billed gull'];\nexport default names;\n",
    },
    green: { 'dist/gull.js': 'export default 7;\n' },
    run: 'npx size-limit',
    exitCode: 1,
    telling: ['Package size limit has exceeded by'],
  },
  {
    ...createNpmTool('bundlewatch@0.4'),
    slug: 'bundlewatch-too-big',
    tool: 'bundlewatch',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json': '{ "name": "gull" }\n',
      '.bundlewatch.config.json':
        '{ "files": [{ "path": "dist/*.js", "maxSize": "40B", "compression": "none" }] }\n',
      'dist/app.js': "console.log('a list of every lighthouse on the coast');\n",
      'dist/vendor.js': 'void 0;\n',
    },
    green: { 'dist/app.js': 'void 1;\n' },
    run: 'npx bundlewatch --config .bundlewatch.config.json',
    exitCode: 1,
    telling: ['FAIL dist/app.js: 56B > 40B'],
  },
];
