import { createNpmTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of npm that check code and text. */
export const rows: readonly ToolRow[] = [
  {
    ...createNpmTool('oxlint@1'),
    slug: 'oxlint-debugger',
    tool: 'oxlint',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/basket.js':
        'export function total(items) {\n  debugger;\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n',
    },
    green: { 'src/basket.js': ['  debugger;\n', ''] },
    run: 'npx oxlint --deny-warnings src',
    exitCode: 1,
    telling: ['`debugger` statement is not allowed'],
  },
  {
    ...createNpmTool('@biomejs/biome@2'),
    slug: 'biome-double-equals',
    tool: 'biome',
    heldOut: false,
    category: 'CODE_ERROR',
    files: { 'src/door.js': 'export function isOpen(door) {\n  return door.state == "open";\n}\n' },
    green: { 'src/door.js': ['== "open"', '=== "open"'] },
    run: 'npx biome lint --error-on-warnings src',
    exitCode: 1,
    telling: ['src/door.js:2:21 lint/suspicious/noDoubleEquals', 'Using == may be unsafe'],
  },
  {
    ...createNpmTool('xo@0.60'),
    slug: 'xo-unused-import',
    tool: 'xo',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'package.json': '{\n\t"name": "menu",\n\t"type": "module"\n}\n',
      'menu.js':
        "import process from 'node:process';\nimport path from 'node:path';\n\nconsole.log(process.cwd());\n",
    },
    green: { 'menu.js': ["import path from 'node:path';\n", ''] },
    run: 'npx xo',
    exitCode: 1,
    telling: ['path is defined but never used'],
  },
  {
    ...createNpmTool('standard@17'),
    slug: 'standard-quotes',
    tool: 'standard',
    heldOut: false,
    category: 'CODE_ERROR',
    files: { 'index.js': 'const soups = ["tomato", \'leek\'];\nmodule.exports = soups\n' },
    green: { 'index.js': ['["tomato", \'leek\'];', "['tomato', 'leek']"] },
    run: 'npx standard',
    exitCode: 1,
    telling: ['Strings must use singlequote.', 'Extra semicolon.'],
  },
  {
    ...createNpmTool('eslint@9'),
    slug: 'eslint-config-missing',
    tool: 'eslint',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: { 'src/map.js': 'export const zoom = 3;\n', '.eslintrc.json': '{ "root": true }\n' },
    green: { 'eslint.config.mjs': 'export default [];\n' },
    run: 'npx eslint src',
    exitCode: 2,
    telling: ["ESLint couldn't find an eslint.config.(js|mjs|cjs) file."],
  },
  {
    ...createNpmTool('htmlhint@1'),
    slug: 'htmlhint-unclosed-tag',
    tool: 'htmlhint',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createNpmTool('html-validate@9'),
    slug: 'html-validate-nested-button',
    tool: 'html-validate',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      '.htmlvalidate.json': '{ "extends": ["html-validate:recommended"] }\n',
      'page.html':
        '<a href="/shop"><button type="button">Shop</button></a>\n<p id="one">1</p>\n<p id="one">2</p>\n',
    },
    green: { 'page.html': '<a href="/shop">Shop</a>\n' },
    run: 'npx html-validate page.html',
    exitCode: 1,
    telling: ['Duplicate ID "one"', '<button> element is not permitted as a descendant of <a>'],
  },
  {
    ...createNpmTool('markdownlint-cli@0.44'),
    slug: 'markdownlint-heading-jump',
    tool: 'markdownlint',
    heldOut: false,
    category: 'CODE_ERROR',
    files: { 'README.md': '# Garden\n\n### Beds\n\nThree of them.\n' },
    green: { 'README.md': ['### Beds', '## Beds'] },
    run: "npx markdownlint '*.md'",
    exitCode: 1,
    telling: ['MD001/heading-increment'],
  },
  {
    ...createNpmTool(
      'remark-cli@12',
      'remark-lint-no-undefined-references@5',
      'remark-lint-no-dead-urls@2',
      'remark-lint@10',
    ),
    slug: 'remark-undefined-reference',
    tool: 'remark',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createNpmTool('cspell@8'),
    slug: 'cspell-unknown-word',
    tool: 'cspell',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'docs/lamp.md': '# Lamp\n\nThe lamp needs a transfromer and a fuse.\n' },
    green: { 'docs/lamp.md': ['transfromer', 'transformer'] },
    run: "npx cspell 'docs/**'",
    exitCode: 1,
    telling: ['Unknown word (transfromer)'],
  },
  {
    ...createNpmTool('@commitlint/cli@19', '@commitlint/config-conventional@19'),
    slug: 'commitlint-empty-type',
    tool: 'commitlint',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'commitlint.config.mjs': "export default { extends: ['@commitlint/config-conventional'] };\n" },
    run: "echo 'Fixed the boiler.' | npx commitlint",
    exitCode: 1,
    telling: ['subject may not be empty', 'type may not be empty'],
  },
  {
    ...createNpmTool('prettier@3'),
    slug: 'prettier-syntax-error',
    tool: 'prettier',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/cart.js': 'export const cart = {\n  items: [,\n  total: 0,\n};\n',
      'src/other.js': 'export const x = 1;\n',
    },
    green: { 'src/cart.js': ['[,', '[],'] },
    run: 'npx prettier --check src',
    exitCode: 2,
    telling: ['SyntaxError'],
  },
  {
    ...createNpmTool('tsd@0.31'),
    slug: 'tsd-wrong-return',
    tool: 'tsd',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'package.json':
        '{ "name": "dice-cup", "version": "1.0.0", "types": "index.d.ts", "main": "index.js", "files": ["index.js", "index.d.ts"] }\n',
      'index.js': 'module.exports.roll = (sides) => 1 + Math.floor(Math.random() * sides);\n',
      'index.d.ts': 'export function roll(sides: number): string;\n',
      'index.test-d.ts':
        "import { expectType } from 'tsd';\nimport { roll } from '.';\n\nexpectType<number>(roll(6));\n",
    },
    green: { 'index.d.ts': ['): string', '): number'] },
    run: 'npx tsd',
    exitCode: 1,
    telling: ['Argument of type string is not assignable to parameter of type number.'],
  },
  {
    ...createNpmTool('typescript@5', '@types/node@20'),
    slug: 'tsc-missing-property',
    tool: 'tsc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "include": ["src"] }\n',
      'src/boats.ts':
        'interface Boat {\n  name: string;\n  sails: number;\n}\n\nexport const heron: Boat = { name: "Heron" };\nexport const names = [heron].map((boat) => boat.nmae);\n',
    },
    green: {
      'src/boats.ts':
        'interface Boat {\n  name: string;\n}\n\nexport const heron: Boat = { name: "Heron" };\n',
    },
    run: 'npx tsc --pretty',
    exitCode: 2,
    telling: ["Property 'sails' is missing in type", "Property 'nmae' does not exist on type 'Boat'"],
  },
  {
    ...createNpmTool('svelte-check@4', 'svelte@5', 'typescript@5'),
    slug: 'svelte-check-unknown-prop',
    tool: 'svelte-check',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "moduleResolution": "bundler", "module": "esnext", "target": "esnext", "types": [] }, "include": ["src"] }\n',
      'src/Badge.svelte':
        '<script lang="ts">\n  let { label }: { label: string } = $props();\n</script>\n\n<b>{label}</b>\n',
      'src/App.svelte':
        '<script lang="ts">\n  import Badge from "./Badge.svelte";\n</script>\n\n<Badge label={42} />\n',
    },
    green: { 'src/App.svelte': ['{42}', '"42"'] },
    run: 'npx svelte-check --output human',
    exitCode: 1,
    telling: ["Type 'number' is not assignable to type 'string'"],
  },
  {
    ...createNpmTool('vue-tsc@2', 'vue@3', 'typescript@5'),
    slug: 'vue-tsc-template-type',
    tool: 'vue-tsc',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createNpmTool('pug-lint@2'),
    slug: 'pug-lint-spaces',
    tool: 'pug-lint',
    heldOut: true,
    category: 'CODE_ERROR',
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
    ...createNpmTool('stylelint@16', 'stylelint-config-standard@36'),
    slug: 'stylelint-unknown-property',
    tool: 'stylelint',
    heldOut: false,
    category: 'CODE_ERROR',
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
    ...createNpmTool('jscpd@4'),
    slug: 'jscpd-threshold',
    tool: 'jscpd',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
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
    ...createNpmTool('textlint@14', 'textlint-rule-no-todo@2'),
    slug: 'textlint-todo',
    tool: 'textlint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      '.textlintrc.json': '{ "rules": { "no-todo": true } }\n',
      'docs/opening.md': '# Opening hours\n\nTODO: ask about Sunday.\n',
    },
    green: { 'docs/opening.md': ['TODO: ask about Sunday.', 'Closed on Sunday.'] },
    run: 'npx textlint docs',
    exitCode: 1,
    telling: ["Found TODO: 'TODO: ask about Sunday.'"],
  },
  {
    ...createNpmTool('alex@11'),
    slug: 'alex-wording',
    tool: 'alex',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'guide.md': '# Guide\n\nThe chairman opens the meeting.\n' },
    green: { 'guide.md': ['chairman', 'chair'] },
    run: 'npx alex guide.md',
    exitCode: 1,
    telling: ['`chairman` may be insensitive'],
  },
  {
    ...createNpmTool('@ls-lint/ls-lint@2'),
    slug: 'ls-lint-file-name',
    tool: 'ls-lint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      '.ls-lint.yml': 'ls:\n  src:\n    .js: kebab-case\nignore:\n  - node_modules\n',
      'src/priceList.js': 'export {};\n',
      'src/opening-hours.js': 'export {};\n',
    },
    run: 'npx ls-lint',
    exitCode: 1,
    telling: ['src/priceList.js failed for'],
  },
];
