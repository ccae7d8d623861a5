import { create, type PlannedCommit } from '../planted/program.ts';
import { endLog, type LoopCase, type Truth, writeHistory } from './case.ts';

/*
 * Failures that the code at hand explains: what the failing line says, and where a name is defined.
 */

export interface CodeStory {
  readonly name: string;
  readonly commits: readonly PlannedCommit[];
  readonly log: readonly string[];
}

export function createCodeCases(parent: string): LoopCase[] {
  return [READ.map((story) => readCase(parent, story))]
    .concat(SEARCHED.map((story) => searchCase(parent, story)))
    .flat();
}

export function createCodeCase(
  parent: string,
  { name, commits, log }: CodeStory,
  truth: (ids: string[]) => Truth,
): LoopCase {
  const { folder, ids, head } = writeHistory(parent, commits);
  return {
    name,
    project: name,
    repository: `code/${name}`,
    log: endLog(log),
    clone: folder,
    commit: head,
    past: [],
    documents: [],
    truth: truth(ids),
  };
}

interface Read extends CodeStory {
  readonly path: string;
  /** Names near the failing line that are not in the log. */
  readonly beyond: readonly string[];
  readonly proof: string;
}

/** Creates a case in which one commit wrote everything, so that only the code adds information to the log. */
function readCase(parent: string, story: Read): LoopCase {
  return createCodeCase(parent, story, () => ({
    categories: ['CODE_ERROR'],
    cause: [[story.path]],
    beyondLog: [story.beyond],
    suspect: { commit: null, path: story.path },
    fix: [[story.path]],
    settledBy: ['read_file'],
    proof: story.proof,
    because: 'the history is one commit and no build passed: the lines around the failing one show the fault',
  }));
}

const READ: readonly Read[] = [
  {
    name: 'region-rates',
    path: 'rates/load.py',
    beyond: ['REGIONS', 'fallback_region'],
    proof: 'fallback_region = "nrth"',
    commits: [
      {
        author: 'Ada Brook',
        message: 'Import the rates',
        edits: [
          create(
            'rates/load.py',
            'REGIONS = {"north": 3, "south": 4}',
            '',
            '',
            'def load(name=None):',
            '    fallback_region = "nrth"',
            '    return REGIONS[name or fallback_region]',
          ),
        ],
      },
    ],
    log: [
      '$ python -m rates',
      'Traceback (most recent call last):',
      '  File "/home/runner/work/rates/rates/rates/load.py", line 6, in load',
      '    return table[key]',
      "KeyError: 'nrth'",
    ],
  },
  {
    name: 'route-plans',
    path: 'src/plan.js',
    beyond: ['stepsPerLeg'],
    proof: 'stepsPerLeg: 4',
    commits: [
      {
        author: 'Ada Brook',
        message: 'Import the planner',
        edits: [
          create(
            'src/plan.js',
            'const limits = { stepsPerLeg: 4 };',
            '',
            'export function plan(legs) {',
            '  return legs.map((leg) => limits.countSteps(leg));',
            '}',
          ),
        ],
      },
    ],
    log: [
      '$ node src/main.js',
      'TypeError: limits.countSteps is not a function',
      '    at plan (/home/runner/work/route-plans/route-plans/src/plan.js:4:39)',
      '    at main (/home/runner/work/route-plans/route-plans/src/main.js:3:1)',
    ],
  },
  {
    name: 'tank-levels',
    path: 'tanks/levels.py',
    beyond: ['samples', 'readings'],
    proof: 'samples = [reading for reading in readings if reading > 100]',
    commits: [
      {
        author: 'Ada Brook',
        message: 'Import the levels',
        edits: [
          create(
            'tanks/levels.py',
            'def mean_level(readings):',
            '    samples = [reading for reading in readings if reading > 100]',
            '    return sum(samples) / len(samples)',
          ),
        ],
      },
    ],
    log: [
      '$ python -m tanks',
      'Traceback (most recent call last):',
      '  File "/home/runner/work/tanks/tanks/tanks/levels.py", line 3, in mean_level',
      'ZeroDivisionError: division by zero',
    ],
  },
];

interface Searched extends CodeStory {
  /** The file that uses an undefined name. The other file defines it. */
  readonly path: string;
  readonly definedIn: string;
}

/** Creates a case in which a name is undefined where it is used. Only a search finds its definition. */
function searchCase(parent: string, story: Searched): LoopCase {
  return createCodeCase(parent, story, () => ({
    categories: ['CODE_ERROR'],
    cause: [[story.path]],
    beyondLog: [[story.definedIn]],
    suspect: { commit: null, path: story.path },
    fix: [[story.path, story.definedIn]],
    settledBy: ['search_code'],
    proof: story.definedIn,
    because: 'the name is defined in a file that the log does not name',
  }));
}

const SEARCHED: readonly Searched[] = [
  {
    name: 'retry-policies',
    path: 'src/client.ts',
    definedIn: 'src/policies/retry.ts',
    commits: [
      {
        author: 'Ada Brook',
        message: 'Import the client',
        edits: [
          create(
            'src/client.ts',
            'export function connect(policy: RetryPolicy): number {',
            '  return 1;',
            '}',
          ),
          create('src/policies/retry.ts', 'export interface RetryPolicy {', '  readonly tries: number;', '}'),
        ],
      },
    ],
    log: ['$ tsc --noEmit', "src/client.ts(1,34): error TS2304: Cannot find name 'RetryPolicy'."],
  },
  {
    name: 'page-slugs',
    path: 'pages/render.py',
    definedIn: 'pages/text/words.py',
    commits: [
      {
        author: 'Ada Brook',
        message: 'Import the pages',
        edits: [
          create('pages/render.py', 'def render(title):', '    return slugify(title)'),
          create('pages/text/words.py', 'def slugify(title):', '    return title.lower()'),
        ],
      },
    ],
    log: [
      '$ python -m pages',
      'Traceback (most recent call last):',
      '  File "/home/runner/work/pages/pages/pages/render.py", line 2, in render',
      '    return slugify(title)',
      "NameError: name 'slugify' is not defined",
    ],
  },
  {
    name: 'tax-tables',
    path: 'src/main/java/shop/Cart.java',
    definedIn: 'src/main/java/shop/tax/TaxTable.java',
    commits: [
      {
        author: 'Ada Brook',
        message: 'Import the cart',
        edits: [
          create(
            'src/main/java/shop/Cart.java',
            'package shop;',
            '',
            'class Cart {',
            '  TaxTable table;',
            '}',
          ),
          create(
            'src/main/java/shop/tax/TaxTable.java',
            'package shop.tax;',
            '',
            'public class TaxTable {',
            '}',
          ),
        ],
      },
    ],
    log: [
      '$ javac -d out src/main/java/shop/Cart.java',
      'src/main/java/shop/Cart.java:4: error: cannot find symbol',
      '  TaxTable table;',
      '  ^',
      '  symbol:   class TaxTable',
      '  location: class Cart',
      '1 error',
    ],
  },
];
