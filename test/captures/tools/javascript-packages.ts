import { createNpmTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of npm that check packages, schemas and configuration. */
export const rows: readonly ToolRow[] = [
  {
    ...createNpmTool('@redocly/cli@1.25.0'),
    slug: 'redocly-unresolved-reference',
    tool: 'redocly',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
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
    ...createNpmTool('@stoplight/spectral-cli@6'),
    slug: 'spectral-path-params',
    tool: 'spectral',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
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
    ...createNpmTool('ajv-cli@5'),
    slug: 'ajv-missing-property',
    tool: 'ajv',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
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
    ...createNpmTool('publint@0.3'),
    slug: 'publint-missing-export',
    tool: 'publint',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
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
    ...createNpmTool('@arethetypeswrong/cli@0.17'),
    slug: 'attw-pack-crash',
    tool: 'attw',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR', 'CONFIG_ERROR'],
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
    ...createNpmTool('license-checker-rseidelsohn@4'),
    slug: 'license-checker-not-allowed',
    tool: 'license-checker',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
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
    ...createNpmTool('knip@5', 'typescript@5', '@types/node@20'),
    slug: 'knip-unused-file',
    tool: 'knip',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'package.json':
        '{ "name": "till", "type": "module", "main": "src/index.js", "dependencies": { "left-pad": "1.3.0" } }\n',
      'knip.json': '{ "entry": ["src/index.js"], "project": ["src/**/*.js"] }\n',
      'src/index.js': 'export const till = 1;\n',
      'src/legacy.js': 'export const drawer = 2;\n',
    },
    run: 'npx knip',
    exitCode: 1,
    telling: ['src/legacy.js', 'left-pad'],
  },
  {
    ...createNpmTool('depcheck@1'),
    slug: 'depcheck-missing',
    tool: 'depcheck',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR'],
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
    ...createNpmTool('madge@8'),
    slug: 'madge-circular',
    tool: 'madge',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'src/order.js': "import { price } from './price.js';\n\nexport const order = () => price();\n",
      'src/price.js':
        "import { discount } from './discount.js';\n\nexport const price = () => 10 - discount();\n",
      'src/discount.js':
        "import { order } from './order.js';\n\nexport const discount = () => (order ? 1 : 0);\n",
    },
    green: { 'src/discount.js': 'export const discount = () => 1;\n' },
    run: 'npx madge --circular src',
    exitCode: 1,
    telling: ['1) discount.js > order.js > price.js'],
  },
  {
    ...createNpmTool('dependency-cruiser@16'),
    slug: 'dependency-cruiser-forbidden',
    tool: 'dependency-cruiser',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      '.dependency-cruiser.cjs':
        "module.exports = {\n  forbidden: [{ name: 'views-stay-out-of-storage', severity: 'error', from: { path: '^src/storage' }, to: { path: '^src/views' } }],\n};\n",
      'src/views/list.js': 'export const list = (rows) => rows.join();\n',
      'src/storage/load.js':
        "import { list } from '../views/list.js';\n\nexport const load = () => list([1, 2]);\n",
    },
    green: { 'src/storage/load.js': 'export const load = () => [1, 2];\n' },
    run: 'npx depcruise src',
    exitCode: 1,
    telling: ['error views-stay-out-of-storage: src/storage/load.js'],
  },
  {
    ...createNpmTool('syncpack@13'),
    slug: 'syncpack-mismatch',
    tool: 'syncpack',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR', 'CONFIG_ERROR'],
    files: {
      'package.json': '{ "name": "shops", "private": true, "workspaces": ["packages/*"] }\n',
      'packages/tea/package.json':
        '{ "name": "tea", "version": "1.0.0", "dependencies": { "dayjs": "1.11.0" } }\n',
      'packages/coffee/package.json':
        '{ "name": "coffee", "version": "1.0.0", "dependencies": { "dayjs": "1.10.4" } }\n',
    },
    run: 'npx syncpack list-mismatches',
    exitCode: 1,
    telling: ['packages/coffee/package.json'],
  },
  {
    ...createNpmTool('secretlint@9', '@secretlint/secretlint-rule-preset-recommend@9'),
    slug: 'secretlint-basic-auth',
    tool: 'secretlint',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
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
    ...createNpmTool('lockfile-lint@4'),
    slug: 'lockfile-lint-host',
    tool: 'lockfile-lint',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR', 'CONFIG_ERROR'],
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
    ...createNpmTool('editorconfig-checker@6'),
    slug: 'editorconfig-checker-download',
    tool: 'editorconfig-checker',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { '.editorconfig': 'root = true\n\n[*]\nindent_style = space\n', 'list.txt': '\ttea\n' },
    network: 'none',
    run: 'npx editorconfig-checker',
    exitCode: 1,
    telling: [{ from: 'Failed to download binary', to: 'HttpError: getaddrinfo EAI_AGAIN' }],
  },
  {
    ...createNpmTool('graphql@16', '@graphql-codegen/cli@5', '@graphql-codegen/typescript@4'),
    slug: 'graphql-codegen-unknown-type',
    tool: 'graphql-codegen',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createNpmTool('sort-package-json@2'),
    slug: 'sort-package-json-check',
    tool: 'sort-package-json',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'package.json': '{\n  "version": "1.0.0",\n  "name": "marbles"\n}\n' },
    green: { 'package.json': '{\n  "name": "marbles",\n  "version": "1.0.0"\n}\n' },
    run: 'npx sort-package-json --check',
    exitCode: 1,
    telling: ['package.json', '1 file was not sorted.'],
  },
  {
    ...createNpmTool('npm-package-json-lint@8'),
    slug: 'npm-package-json-lint-fields',
    tool: 'npm-package-json-lint',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      '.npmpackagejsonlintrc.json':
        '{ "rules": { "require-license": "error", "prefer-absolute-version-dependencies": "error" } }\n',
      'package.json': '{ "name": "marbles", "version": "1.0.0", "dependencies": { "dayjs": "^1.0.0" } }\n',
    },
    green: { 'package.json': '{ "name": "marbles", "version": "1.0.0", "license": "MIT" }\n' },
    run: 'npx npmPkgJsonLint .',
    exitCode: 2,
    telling: ['require-license', 'prefer-absolute-version-dependencies'],
  },
];
