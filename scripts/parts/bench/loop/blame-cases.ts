import { create, replace } from '../planted/program.ts';
import type { LoopCase } from './case.ts';
import { type CodeStory, createCodeCase } from './code-cases.ts';

const README = create('README.md', '# Notes');

export function createBlameCases(parent: string): LoopCase[] {
  return BLAMED.map((story) => blameCase(parent, story));
}

interface Blamed extends CodeStory {
  readonly path: string;
  /** The names in the failing line. */
  readonly names: readonly string[];
}

/** Creates a case without a known passing build. The second of three commits wrote the line that throws. */
function blameCase(parent: string, story: Blamed): LoopCase {
  return createCodeCase(parent, story, ([, culprit = '']) => ({
    categories: ['CODE_ERROR'],
    cause: [story.names],
    suspect: { commit: culprit, path: story.path },
    fix: [[story.path, culprit.slice(0, 10)]],
    settledBy: ['read_blame'],
    proof: culprit.slice(0, 10),
    because: 'no passing build is known, and the commit that wrote the failing line is not the last one',
  }));
}

const BLAMED: readonly Blamed[] = [
  {
    name: 'invoice-totals',
    path: 'billing/totals.py',
    names: ['discount'],
    commits: [
      {
        author: 'Ada Brook',
        message: 'Add totals',
        edits: [
          README,
          create('billing/totals.py', 'def total(order):', '    base = sum(order.prices)', '    return base'),
        ],
      },
      {
        author: 'Bob Hart',
        message: 'Subtract discounts',
        edits: [replace('billing/totals.py', '    return base', '    return base - order.discount.amount')],
      },
      {
        author: 'Cora Lint',
        message: 'Extend the notes',
        edits: [replace('README.md', '# Notes', '# Notes on bills')],
      },
    ],
    log: [
      '$ python -m billing.run',
      'Traceback (most recent call last):',
      '  File "billing/totals.py", line 3, in total',
      '    return base - order.discount.amount',
      "AttributeError: 'NoneType' object has no attribute 'amount'",
    ],
  },
  {
    name: 'session-tokens',
    path: 'lib/session.js',
    names: ['token'],
    commits: [
      {
        author: 'Ada Brook',
        message: 'Add sessions',
        edits: [
          README,
          create(
            'lib/session.js',
            'export function open(user) {',
            '  const name = user.name;',
            '  return name;',
            '}',
          ),
        ],
      },
      {
        author: 'Bob Hart',
        message: 'Return the token too',
        edits: [replace('lib/session.js', '  return name;', '  return [name, user.grant.token];')],
      },
      {
        author: 'Cora Lint',
        message: 'Extend the notes',
        edits: [replace('README.md', '# Notes', '# Notes on users')],
      },
    ],
    log: [
      '$ node lib/main.js',
      '/home/runner/work/session-tokens/lib/session.js:3',
      '  return [name, user.grant.token];',
      '                           ^',
      "TypeError: Cannot read properties of undefined (reading 'token')",
      '    at open (/home/runner/work/session-tokens/session-tokens/lib/session.js:3:28)',
      '    at Object.<anonymous> (/home/runner/work/session-tokens/session-tokens/lib/main.js:2:1)',
      'Node.js v24.1.0',
    ],
  },
  {
    name: 'lookup-cache',
    path: 'internal/cache/lookup.go',
    names: ['entry', 'Expires', 'Lookup'],
    commits: [
      {
        author: 'Ada Brook',
        message: 'Add the cache',
        edits: [
          README,
          create(
            'internal/cache/lookup.go',
            'package cache',
            '',
            'func Lookup(entry *Entry) int {',
            '\treturn 0',
            '}',
          ),
        ],
      },
      {
        author: 'Bob Hart',
        message: 'Return the age',
        edits: [replace('internal/cache/lookup.go', '\treturn 0', '\treturn entry.Expires.Minute()')],
      },
      {
        author: 'Cora Lint',
        message: 'Extend the notes',
        edits: [replace('README.md', '# Notes', '# Notes on caches')],
      },
    ],
    log: [
      '$ go run ./cmd/warm',
      'panic: runtime error: invalid memory address or nil pointer dereference',
      '[signal SIGSEGV: segmentation violation code=0x1 addr=0x8 pc=0x47ab12]',
      '',
      'goroutine 1 [running]:',
      'example.test/warm/internal/cache.Lookup(...)',
      '\t/home/runner/work/warm/warm/internal/cache/lookup.go:4 +0x1d',
      'main.main()',
      '\t/home/runner/work/warm/warm/cmd/warm/main.go:9 +0x2a',
      'exit status 2',
    ],
  },
  {
    name: 'shift-plans',
    path: 'lib/plans.rb',
    names: ['starts_at', 'shift'],
    commits: [
      {
        author: 'Ada Brook',
        message: 'Add plans',
        edits: [README, create('lib/plans.rb', 'def first_hour(shift)', '  8', 'end')],
      },
      {
        author: 'Bob Hart',
        message: 'Read the hour from the shift',
        edits: [replace('lib/plans.rb', '  8', '  shift.times.first.starts_at')],
      },
      {
        author: 'Cora Lint',
        message: 'Extend the notes',
        edits: [replace('README.md', '# Notes', '# Notes on shifts')],
      },
    ],
    log: [
      '$ ruby bin/plan',
      "lib/plans.rb:2:in 'first_hour': undefined method 'starts_at' for nil (NoMethodError)",
      "\tfrom bin/plan:4:in '<main>'",
    ],
  },
];
