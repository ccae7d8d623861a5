import { npm, type ToolRow } from '../row.ts';

/** Tools of npm that check code. */
export const rows: readonly ToolRow[] = [
  {
    ...npm('oxlint@1'),
    slug: 'oxlint-debugger',
    tool: 'oxlint',
    heldOut: true,
    files: {
      'src/basket.js': 'export function total(items) {\n  debugger;\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n',
    },
    green: {
      'src/basket.js': 'export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n',
    },
    run: 'npx oxlint --deny-warnings src',
    exitCode: 1,
    telling: ['no-debugger'],
  },
];
