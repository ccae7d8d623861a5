import { pip, type ToolRow } from '../row.ts';

/** Tools of PyPI that check code. */
export const rows: readonly ToolRow[] = [
  {
    ...pip('vulture'),
    slug: 'vulture-unused-function',
    tool: 'vulture',
    heldOut: true,
    files: {
      'tides.py':
        'def high_tide(hours):\n    return max(hours)\n\n\ndef low_tide(hours):\n    return min(hours)\n\n\nprint(high_tide([3, 15]))\n',
    },
    green: { 'tides.py': 'def high_tide(hours):\n    return max(hours)\n\n\nprint(high_tide([3, 15]))\n' },
    run: 'vulture .',
    exitCode: 3,
    telling: ["unused function 'low_tide'"],
  },
];
