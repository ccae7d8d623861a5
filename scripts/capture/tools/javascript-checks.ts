import { npm, type ToolRow } from '../row.ts';

/** Tools of npm that check code, text and configuration. */
export const rows: readonly ToolRow[] = [
  {
    ...npm('oxlint@1'),
    slug: 'oxlint-debugger',
    tool: 'oxlint',
    heldOut: false,
    files: {
      'src/basket.js': 'export function total(items) {\n  debugger;\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n',
    },
    green: { 'src/basket.js': ['  debugger;\n', ''] },
    run: 'npx oxlint --deny-warnings src',
    exitCode: 1,
    telling: ['`debugger` statement is not allowed'],
  },
  {
    ...npm('@biomejs/biome@2'),
    slug: 'biome-double-equals',
    tool: 'biome',
    heldOut: false,
    files: { 'src/door.js': 'export function isOpen(door) {\n  return door.state == "open";\n}\n' },
    green: { 'src/door.js': ['== "open"', '=== "open"'] },
    run: 'npx biome lint --error-on-warnings src',
    exitCode: 1,
    telling: ['src/door.js:2:21 lint/suspicious/noDoubleEquals', 'Using == may be unsafe'],
  },
  {
    ...npm('xo@0.60'),
    slug: 'xo-unused-import',
    tool: 'xo',
    heldOut: true,
    files: {
      'package.json': '{\n\t"name": "menu",\n\t"type": "module"\n}\n',
      'menu.js': "import process from 'node:process';\nimport path from 'node:path';\n\nconsole.log(process.cwd());\n",
    },
    green: { 'menu.js': ["import path from 'node:path';\n", ''] },
    run: 'npx xo',
    exitCode: 1,
    telling: ['path is defined but never used'],
  },
  {
    ...npm('standard@17'),
    slug: 'standard-quotes',
    tool: 'standard',
    heldOut: false,
    files: { 'index.js': 'const soups = ["tomato", \'leek\'];\nmodule.exports = soups\n' },
    green: { 'index.js': ['["tomato", \'leek\'];', "['tomato', 'leek']"] },
    run: 'npx standard',
    exitCode: 1,
    telling: ['Strings must use singlequote.', 'Extra semicolon.'],
  },
  {
    ...npm('eslint@9'),
    slug: 'eslint-config-missing',
    tool: 'eslint',
    heldOut: false,
    files: { 'src/map.js': 'export const zoom = 3;\n', '.eslintrc.json': '{ "root": true }\n' },
    green: { 'eslint.config.mjs': 'export default [];\n' },
    run: 'npx eslint src',
    exitCode: 2,
    telling: ["ESLint couldn't find an eslint.config.(js|mjs|cjs) file."],
  },
  {
    ...npm('htmlhint@1'),
    slug: 'htmlhint-unclosed-tag',
    tool: 'htmlhint',
    heldOut: true,
    files: {
      'public/index.html':
        '<!DOCTYPE html>\n<html lang="en">\n  <head><title>Bakery</title></head>\n  <body>\n    <section><p>Fresh bread</p>\n  </body>\n</html>\n',
    },
    green: { 'public/index.html': ['Fresh bread</p>', 'Fresh bread</p></section>'] },
    run: "npx htmlhint 'public/**/*.html'",
    exitCode: 1,
    telling: ['Tag must be paired, missing: [ </section> ]'],
  },
  {
    ...npm('html-validate@9'),
    slug: 'html-validate-nested-button',
    tool: 'html-validate',
    heldOut: true,
    files: {
      '.htmlvalidate.json': '{ "extends": ["html-validate:recommended"] }\n',
      'page.html': '<a href="/shop"><button type="button">Shop</button></a>\n<p id="one">1</p>\n<p id="one">2</p>\n',
    },
    green: { 'page.html': '<a href="/shop">Shop</a>\n' },
    run: 'npx html-validate page.html',
    exitCode: 1,
    telling: ['Duplicate ID "one"', '<button> element is not permitted as a descendant of <a>'],
  },
  {
    ...npm('markdownlint-cli@0.44'),
    slug: 'markdownlint-heading-jump',
    tool: 'markdownlint',
    heldOut: false,
    files: { 'README.md': '# Garden\n\n### Beds\n\nThree of them.\n' },
    green: { 'README.md': ['### Beds', '## Beds'] },
    run: "npx markdownlint '*.md'",
    exitCode: 1,
    telling: ['MD001/heading-increment'],
  },
  {
    ...npm('remark-cli@12', 'remark-lint-no-undefined-references@5', 'remark-lint-no-dead-urls@2', 'remark-lint@10'),
    slug: 'remark-undefined-reference',
    tool: 'remark',
    heldOut: true,
    files: {
      '.remarkrc.json': '{ "plugins": ["remark-lint", "remark-lint-no-undefined-references"] }\n',
      'docs/start.md': '# Start\n\nRead the [handbook][] first.\n',
    },
    green: { 'docs/start.md': '# Start\n\nRead the [handbook][] first.\n\n[handbook]: ./handbook.md\n' },
    run: 'npx remark docs --frail --quiet',
    exitCode: 1,
    telling: ['reference to undefined definition'],
  },
  {
    ...npm('cspell@8'),
    slug: 'cspell-unknown-word',
    tool: 'cspell',
    heldOut: true,
    files: { 'docs/lamp.md': '# Lamp\n\nThe lamp needs a transfromer and a fuse.\n' },
    green: { 'docs/lamp.md': ['transfromer', 'transformer'] },
    run: "npx cspell 'docs/**'",
    exitCode: 1,
    telling: ['Unknown word (transfromer)'],
  },
  {
    ...npm('@commitlint/cli@19', '@commitlint/config-conventional@19'),
    slug: 'commitlint-empty-type',
    tool: 'commitlint',
    heldOut: true,
    files: { 'commitlint.config.mjs': "export default { extends: ['@commitlint/config-conventional'] };\n" },
    run: "echo 'Fixed the boiler.' | npx commitlint",
    exitCode: 1,
    telling: ['subject may not be empty', 'type may not be empty'],
  },
  {
    ...npm('prettier@3'),
    slug: 'prettier-syntax-error',
    tool: 'prettier',
    heldOut: false,
    files: { 'src/cart.js': 'export const cart = {\n  items: [,\n  total: 0,\n};\n', 'src/other.js': 'export const x = 1;\n' },
    green: { 'src/cart.js': ['[,', '[],'] },
    run: 'npx prettier --check src',
    exitCode: 2,
    telling: ['SyntaxError'],
  },
  {
    ...npm('tsd@0.31'),
    slug: 'tsd-wrong-return',
    tool: 'tsd',
    heldOut: false,
    files: {
      'package.json':
        '{ "name": "dice-cup", "version": "1.0.0", "types": "index.d.ts", "main": "index.js", "files": ["index.js", "index.d.ts"] }\n',
      'index.js': 'module.exports.roll = (sides) => 1 + Math.floor(Math.random() * sides);\n',
      'index.d.ts': 'export function roll(sides: number): string;\n',
      'index.test-d.ts': "import { expectType } from 'tsd';\nimport { roll } from '.';\n\nexpectType<number>(roll(6));\n",
    },
    green: { 'index.d.ts': ['): string', '): number'] },
    run: 'npx tsd',
    exitCode: 1,
    telling: ['Argument of type string is not assignable to parameter of type number.'],
  },
  {
    ...npm('typescript@5', '@types/node@20'),
    slug: 'tsc-missing-property',
    tool: 'tsc',
    heldOut: false,
    files: {
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "include": ["src"] }\n',
      'src/boats.ts':
        'interface Boat {\n  name: string;\n  sails: number;\n}\n\nexport const heron: Boat = { name: "Heron" };\nexport const names = [heron].map((boat) => boat.nmae);\n',
    },
    green: { 'src/boats.ts': 'interface Boat {\n  name: string;\n}\n\nexport const heron: Boat = { name: "Heron" };\n' },
    run: 'npx tsc --pretty',
    exitCode: 2,
    telling: ["Property 'sails' is missing in type", "Property 'nmae' does not exist on type 'Boat'"],
  },
  {
    ...npm('svelte-check@4', 'svelte@5', 'typescript@5'),
    slug: 'svelte-check-unknown-prop',
    tool: 'svelte-check',
    heldOut: false,
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "moduleResolution": "bundler", "module": "esnext", "target": "esnext", "types": [] }, "include": ["src"] }\n',
      'src/Badge.svelte': '<script lang="ts">\n  let { label }: { label: string } = $props();\n</script>\n\n<b>{label}</b>\n',
      'src/App.svelte': '<script lang="ts">\n  import Badge from "./Badge.svelte";\n</script>\n\n<Badge label={42} />\n',
    },
    green: { 'src/App.svelte': ['{42}', '"42"'] },
    run: 'npx svelte-check --output human',
    exitCode: 1,
    telling: ["Type 'number' is not assignable to type 'string'"],
  },
  {
    ...npm('vue-tsc@2', 'vue@3', 'typescript@5'),
    slug: 'vue-tsc-template-type',
    tool: 'vue-tsc',
    heldOut: false,
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "noEmit": true, "moduleResolution": "bundler", "module": "esnext", "target": "esnext", "lib": ["esnext", "dom"], "types": [] }, "include": ["src"] }\n',
      'src/Timer.vue':
        '<script setup lang="ts">\ndefineProps<{ seconds: number }>();\n</script>\n\n<template>\n  <time>{{ seconds.toUpperCase() }}</time>\n</template>\n',
      'src/main.ts': 'export { default } from "./Timer.vue";\n',
    },
    green: { 'src/Timer.vue': ['toUpperCase', 'toFixed'] },
    run: 'npx vue-tsc --noEmit',
    exitCode: 2,
    telling: ["Property 'toUpperCase' does not exist on type 'number'."],
  },
  {
    ...npm('@redocly/cli@1.25.0'),
    slug: 'redocly-unresolved-reference',
    tool: 'redocly',
    heldOut: true,
    files: {
      'openapi.yaml': `openapi: 3.1.0
info:
  title: Tides
  version: '1'
  license: { name: MIT, identifier: MIT }
servers:
  - url: https://tides.example.test
security: []
paths:
  /tides:
    get:
      operationId: listTides
      summary: Lists tides
      responses:
        '200':
          description: Tides
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Tide'
        '400':
          description: Bad request
components:
  schemas:
    Tides:
      type: array
      items: { type: number }
`,
    },
    green: { 'openapi.yaml': ['schemas/Tide', 'schemas/Tides'] },
    env: { REDOCLY_TELEMETRY: 'off' },
    run: 'npx redocly lint openapi.yaml --extends minimal',
    exitCode: 1,
    telling: ["Can't resolve $ref"],
  },
  {
    ...npm('@stoplight/spectral-cli@6'),
    slug: 'spectral-path-params',
    tool: 'spectral',
    heldOut: false,
    files: {
      '.spectral.yaml':
        "extends: ['spectral:oas']\nrules:\n  info-contact: off\n  oas3-api-servers: off\n  operation-tags: off\n  operation-description: off\n  info-description: off\n",
      'api.yaml':
        "openapi: 3.0.3\ninfo:\n  title: Berths\n  version: '1'\npaths:\n  /berths/{number}:\n    get:\n      operationId: getBerth\n      responses:\n        '200':\n          description: A berth\n",
    },
    green: { 'api.yaml': ['/berths/{number}', '/berths'] },
    run: 'npx spectral lint api.yaml --fail-severity=error',
    exitCode: 1,
    telling: ['path-params'],
  },
  {
    ...npm('ajv-cli@5'),
    slug: 'ajv-missing-property',
    tool: 'ajv',
    heldOut: true,
    files: {
      'schema.json':
        '{ "type": "object", "required": ["city", "lat"], "properties": { "city": { "type": "string" }, "lat": { "type": "number" } } }\n',
      'stations/north.json': '{ "city": "Alta", "lat": 69.9 }\n',
      'stations/south.json': '{ "city": "Lund", "latitude": 55.7 }\n',
    },
    green: { 'stations/south.json': ['latitude', 'lat'] },
    run: "npx ajv validate -s schema.json -d 'stations/*.json'",
    exitCode: 1,
    telling: ['stations/south.json invalid', "must have required property 'lat'"],
  },
  {
    ...npm('pug-lint@2'),
    slug: 'pug-lint-spaces',
    tool: 'pug-lint',
    heldOut: true,
    files: {
      '.pug-lintrc': '{ "disallowIdLiterals": true, "validateAttributeQuoteMarks": "\'" }\n',
      'views/home.pug': 'html\n  body\n    #main\n      a(href="/") Home\n',
    },
    green: { 'views/home.pug': "html\n  body\n    .main\n      a(href='/') Home\n" },
    run: 'npx pug-lint views',
    exitCode: 2,
    telling: ['ID literals must not be used', 'Invalid attribute quote mark found'],
  },
  {
    ...npm('stylelint@16', 'stylelint-config-standard@36'),
    slug: 'stylelint-unknown-property',
    tool: 'stylelint',
    heldOut: false,
    files: {
      '.stylelintrc.json': '{ "extends": "stylelint-config-standard" }\n',
      'styles/card.css': '.card {\n  bordr: 1px solid;\n  color: #12345;\n}\n',
    },
    green: { 'styles/card.css': '.card {\n  color: #123456;\n}\n' },
    run: "npx stylelint 'styles/**/*.css'",
    exitCode: 2,
    telling: ['Unexpected unknown property "bordr"', 'Unexpected invalid hex color "#12345"'],
  },
  {
    ...npm('publint@0.3'),
    slug: 'publint-missing-export',
    tool: 'publint',
    heldOut: true,
    files: {
      'package.json':
        '{\n  "name": "tide-clock",\n  "version": "1.0.0",\n  "type": "module",\n  "files": ["dist"],\n  "exports": { ".": { "types": "./dist/index.d.ts", "default": "./dist/index.js" } }\n}\n',
      'dist/index.mjs': 'export const hours = 12;\n',
      'dist/index.d.ts': 'export const hours: number;\n',
    },
    green: { 'dist/index.js': 'export const hours = 12;\n' },
    run: 'npx publint --strict',
    exitCode: 1,
    telling: ['./dist/index.js but the file does not exist'],
  },
  {
    ...npm('@arethetypeswrong/cli@0.17'),
    slug: 'attw-pack-crash',
    tool: 'attw',
    heldOut: true,
    files: {
      'package.json':
        '{\n  "name": "tide-clock",\n  "version": "1.0.0",\n  "type": "module",\n  "exports": "./index.js",\n  "files": ["index.js"]\n}\n',
      'index.js': 'export const hours = 12;\n',
    },
    run: 'npx attw --pack .',
    exitCode: 3,
    telling: ["Cannot read properties of undefined (reading 'filename')"],
  },
  {
    ...npm('license-checker-rseidelsohn@4'),
    slug: 'license-checker-not-allowed',
    tool: 'license-checker',
    heldOut: true,
    setup: 'npm install --no-audit --no-fund --prefer-offline',
    files: {
      'package.json':
        '{\n  "name": "orders",\n  "version": "1.0.0",\n  "license": "MIT",\n  "private": true,\n  "dependencies": { "argparse": "2.0.1" },\n  "devDependencies": { "license-checker-rseidelsohn": "4.4.2" }\n}\n',
    },
    run: "npx license-checker-rseidelsohn --production --onlyAllow 'MIT;ISC'",
    exitCode: 1,
    telling: ['Python-2.0'],
  },
  {
    ...npm('knip@5', 'typescript@5', '@types/node@20'),
    slug: 'knip-unused-file',
    tool: 'knip',
    heldOut: true,
    files: {
      'package.json': '{ "name": "till", "type": "module", "main": "src/index.js", "dependencies": { "left-pad": "1.3.0" } }\n',
      'knip.json': '{ "entry": ["src/index.js"], "project": ["src/**/*.js"] }\n',
      'src/index.js': 'export const till = 1;\n',
      'src/legacy.js': 'export const drawer = 2;\n',
    },
    run: 'npx knip',
    exitCode: 1,
    telling: ['src/legacy.js', 'left-pad'],
  },
  {
    ...npm('depcheck@1'),
    slug: 'depcheck-missing',
    tool: 'depcheck',
    heldOut: true,
    files: {
      'package.json': '{ "name": "postcards", "dependencies": {} }\n',
      'index.js': "const dayjs = require('dayjs');\n\nmodule.exports = () => dayjs().format('DD MMM');\n",
    },
    green: { 'package.json': ['{} }', '{ "dayjs": "1" } }'] },
    run: 'npx depcheck',
    exitCode: 255,
    telling: ['dayjs: ./index.js'],
  },
  {
    ...npm('madge@8'),
    slug: 'madge-circular',
    tool: 'madge',
    heldOut: true,
    files: {
      'src/order.js': "import { price } from './price.js';\n\nexport const order = () => price();\n",
      'src/price.js': "import { discount } from './discount.js';\n\nexport const price = () => 10 - discount();\n",
      'src/discount.js': "import { order } from './order.js';\n\nexport const discount = () => (order ? 1 : 0);\n",
    },
    green: { 'src/discount.js': 'export const discount = () => 1;\n' },
    run: 'npx madge --circular src',
    exitCode: 1,
    telling: ['1) discount.js > order.js > price.js'],
  },
  {
    ...npm('dependency-cruiser@16'),
    slug: 'dependency-cruiser-forbidden',
    tool: 'dependency-cruiser',
    heldOut: true,
    files: {
      '.dependency-cruiser.cjs':
        "module.exports = {\n  forbidden: [{ name: 'views-stay-out-of-storage', severity: 'error', from: { path: '^src/storage' }, to: { path: '^src/views' } }],\n};\n",
      'src/views/list.js': 'export const list = (rows) => rows.join();\n',
      'src/storage/load.js': "import { list } from '../views/list.js';\n\nexport const load = () => list([1, 2]);\n",
    },
    green: { 'src/storage/load.js': 'export const load = () => [1, 2];\n' },
    run: 'npx depcruise src',
    exitCode: 1,
    telling: ['error views-stay-out-of-storage: src/storage/load.js'],
  },
  {
    ...npm('syncpack@13'),
    slug: 'syncpack-mismatch',
    tool: 'syncpack',
    heldOut: true,
    files: {
      'package.json': '{ "name": "shops", "private": true, "workspaces": ["packages/*"] }\n',
      'packages/tea/package.json': '{ "name": "tea", "version": "1.0.0", "dependencies": { "dayjs": "1.11.0" } }\n',
      'packages/coffee/package.json': '{ "name": "coffee", "version": "1.0.0", "dependencies": { "dayjs": "1.10.4" } }\n',
    },
    run: 'npx syncpack list-mismatches',
    exitCode: 1,
    telling: ['packages/coffee/package.json'],
  },
  {
    ...npm('jscpd@4'),
    slug: 'jscpd-threshold',
    tool: 'jscpd',
    heldOut: true,
    files: {
      'src/invoice.js': `export function invoice(rows) {
  let total = 0;
  for (const row of rows) {
    if (row.count > 0 && row.price > 0) {
      total += row.count * row.price;
    }
  }
  const tax = Math.round(total * 0.2);
  return { total, tax, gross: total + tax };
}
`,
      'src/quote.js': `export function quote(rows) {
  let total = 0;
  for (const row of rows) {
    if (row.count > 0 && row.price > 0) {
      total += row.count * row.price;
    }
  }
  const tax = Math.round(total * 0.2);
  return { total, tax, gross: total + tax };
}
`,
    },
    green: { 'src/quote.js': "export { invoice as quote } from './invoice.js';\n" },
    run: 'npx jscpd --threshold 5 --min-lines 4 --min-tokens 30 src',
    exitCode: 1,
    telling: ['jscpd found too many duplicates'],
  },
  {
    ...npm('textlint@14', 'textlint-rule-no-todo@2'),
    slug: 'textlint-todo',
    tool: 'textlint',
    heldOut: true,
    files: { '.textlintrc.json': '{ "rules": { "no-todo": true } }\n', 'docs/opening.md': '# Opening hours\n\nTODO: ask about Sunday.\n' },
    green: { 'docs/opening.md': ['TODO: ask about Sunday.', 'Closed on Sunday.'] },
    run: 'npx textlint docs',
    exitCode: 1,
    telling: ["Found TODO: 'TODO: ask about Sunday.'"],
  },
  {
    ...npm('alex@11'),
    slug: 'alex-wording',
    tool: 'alex',
    heldOut: true,
    files: { 'guide.md': '# Guide\n\nThe chairman opens the meeting.\n' },
    green: { 'guide.md': ['chairman', 'chair'] },
    run: 'npx alex guide.md',
    exitCode: 1,
    telling: ['`chairman` may be insensitive'],
  },
  {
    ...npm('@ls-lint/ls-lint@2'),
    slug: 'ls-lint-file-name',
    tool: 'ls-lint',
    heldOut: true,
    files: {
      '.ls-lint.yml': 'ls:\n  src:\n    .js: kebab-case\nignore:\n  - node_modules\n',
      'src/priceList.js': 'export {};\n',
      'src/opening-hours.js': 'export {};\n',
    },
    run: 'npx ls-lint',
    exitCode: 1,
    telling: ['src/priceList.js failed for'],
  },
  {
    ...npm('secretlint@9', '@secretlint/secretlint-rule-preset-recommend@9'),
    slug: 'secretlint-basic-auth',
    tool: 'secretlint',
    heldOut: true,
    files: {
      '.secretlintrc.json': '{ "rules": [{ "id": "@secretlint/secretlint-rule-preset-recommend" }] }\n',
      'settings.env': 'FEED=https://reader:paper-boat-77@feeds.example.test/daily\n',
    },
    green: { 'settings.env': 'FEED=https://feeds.example.test/daily\n' },
    run: 'npx secretlint settings.env',
    exitCode: 1,
    telling: ['found basic auth credential'],
  },
  {
    ...npm('lockfile-lint@4'),
    slug: 'lockfile-lint-host',
    tool: 'lockfile-lint',
    heldOut: true,
    files: {
      'package-lock.json':
        '{\n  "name": "toys", "version": "1.0.0", "lockfileVersion": 3, "requires": true,\n  "packages": {\n    "": { "name": "toys", "version": "1.0.0", "dependencies": { "kite": "1.0.0" } },\n    "node_modules/kite": { "version": "1.0.0", "resolved": "http://packages.example.test/kite/-/kite-1.0.0.tgz", "integrity": "sha512-aaaa" }\n  }\n}\n',
    },
    green: { 'package-lock.json': ['http://packages', 'https://packages'] },
    run: 'npx lockfile-lint --path package-lock.json --type npm --validate-https',
    exitCode: 1,
    telling: ['detected invalid protocol for package: kite@1.0.0'],
  },
  {
    ...npm('editorconfig-checker@6'),
    slug: 'editorconfig-checker-download',
    tool: 'editorconfig-checker',
    heldOut: true,
    files: { '.editorconfig': 'root = true\n\n[*]\nindent_style = space\n', 'list.txt': '\ttea\n' },
    network: 'none',
    run: 'npx editorconfig-checker',
    exitCode: 1,
    telling: [{ from: 'Failed to download binary', to: 'HttpError: getaddrinfo EAI_AGAIN' }],
  },
  {
    ...npm('graphql@16', '@graphql-codegen/cli@5', '@graphql-codegen/typescript@4'),
    slug: 'graphql-codegen-unknown-type',
    tool: 'graphql-codegen',
    heldOut: true,
    files: {
      'codegen.yml': 'schema: schema.graphql\ngenerates:\n  types.ts:\n    plugins: [typescript]\n',
      'schema.graphql': 'type Query {\n  boats: [Boat!]!\n}\n\ntype Ship {\n  name: String!\n}\n',
    },
    green: { 'schema.graphql': ['[Boat!]', '[Ship!]'] },
    run: 'npx graphql-codegen',
    exitCode: 1,
    telling: ['Unknown type: "Boat".'],
  },
  {
    ...npm('sort-package-json@2'),
    slug: 'sort-package-json-check',
    tool: 'sort-package-json',
    heldOut: false,
    files: { 'package.json': '{\n  "version": "1.0.0",\n  "name": "marbles"\n}\n' },
    green: { 'package.json': '{\n  "name": "marbles",\n  "version": "1.0.0"\n}\n' },
    run: 'npx sort-package-json --check',
    exitCode: 1,
    telling: ['package.json', '1 file was not sorted.'],
  },
  {
    ...npm('npm-package-json-lint@8'),
    slug: 'npm-package-json-lint-fields',
    tool: 'npm-package-json-lint',
    heldOut: true,
    files: {
      '.npmpackagejsonlintrc.json': '{ "rules": { "require-license": "error", "prefer-absolute-version-dependencies": "error" } }\n',
      'package.json': '{ "name": "marbles", "version": "1.0.0", "dependencies": { "dayjs": "^1.0.0" } }\n',
    },
    green: { 'package.json': '{ "name": "marbles", "version": "1.0.0", "license": "MIT" }\n' },
    run: 'npx npmPkgJsonLint .',
    exitCode: 2,
    telling: ['require-license', 'prefer-absolute-version-dependencies'],
  },
];
