import { create, createFile, type PlannedCommit, replace } from '../planted/program.ts';
import { endLog, type LoopCase, type PastBuild, writeHistory } from './case.ts';

/* Failing tests that the code under test does not explain: flaky ones, dated ones, and ones fixed before. */

interface Tested {
  readonly name: string;
  /** The names of the test and of its file, its code, and the failing line. */
  readonly test: string;
  readonly file: string;
  readonly code: readonly string[];
  readonly line: number;
  readonly message: string;
}

export function createTestCases(parent: string): LoopCase[] {
  return [
    FLAKY.map((planted) => createFlakyCase(parent, planted)),
    DATED.map((planted) => createDatedCase(parent, planted)),
  ]
    .concat(MENDED.map((planted) => createFixedCase(parent, planted)))
    .flat();
}

function printTest({ file, test, line, message, code }: Tested): string {
  return endLog([
    '$ pytest -q',
    'F                                                                        [100%]',
    '=================================== FAILURES ===================================',
    `${'_'.repeat(30)} ${test} ${'_'.repeat(30)}`,
    '',
    `    def ${test}():`,
    `>       ${(code[line - 1] ?? '').trim()}`,
    `E       ${message}`,
    '',
    `${file}:${line}: AssertionError`,
    '=========================== short test summary info ============================',
    `FAILED ${file}::${test} - ${message}`,
    '1 failed in 0.31s',
  ]);
}

function begin({ file, code }: Tested): PlannedCommit {
  return {
    author: 'Ada Brook',
    message: 'Import the program and its tests',
    edits: [create('README.md', '# Notes'), createFile(file, code)],
  };
}

function note(text: string): PlannedCommit {
  return {
    author: 'Cora Lint',
    message: `Note ${text}`,
    edits: [replace('README.md', '# Notes', `# Notes\n\n${text}`)],
  };
}

type Facts = Pick<LoopCase, 'past' | 'truth'>;

function createCase(
  parent: string,
  tested: Tested,
  tell: (ids: string[]) => Facts,
  commits: PlannedCommit[],
): LoopCase {
  const { folder, ids, head } = writeHistory(parent, commits);
  const { past, truth } = tell(ids);
  const { name } = tested;
  const log = printTest(tested);
  return {
    name,
    project: name,
    repository: `tests/${name}`,
    log,
    clone: folder,
    commit: head,
    past,
    documents: [],
    truth,
  };
}

/**
 * Creates a case in which the same test failed on other branches and passed in between without a change to
 * it.
 */
function createFlakyCase(parent: string, tested: Tested): LoopCase {
  const log = printTest(tested);
  const tell = ([first = '', second = '']: string[]): Facts => {
    const past: PastBuild[] = [
      { status: 'passed', commit: first },
      { status: 'failed', commit: first, branch: 'renovate/tools', log },
      { status: 'failed', commit: first, branch: 'feature/search', log },
      { status: 'passed', commit: first },
    ];
    return {
      past,
      truth: {
        categories: ['TEST_FAILURE', 'INFRA_ERROR'],
        cause: [[tested.test]],
        beyondLog: [['renovate/tools', 'feature/search', '#2', '#3', 'other branches', 'another branch']],
        suspect: null,
        fix: [],
        settledBy: ['read_failure_history'],
        proof: '#3',
        because: `the test failed on two other branches before; ${second.slice(0, 10)} changes a note`,
      },
    };
  };
  return createCase(parent, tested, tell, [begin(tested), note('about searching')]);
}

const FLAKY: readonly Tested[] = [
  [
    'index-refresh',
    'test_refresh_is_seen',
    'tests/test_refresh.py',
    'assert index.count() == 3',
    'assert 2 == 3',
  ],
  [
    'mail-queue',
    'test_sends_in_time',
    'tests/test_queue.py',
    'assert queue.sent == ["a"]',
    "AssertionError: assert [] == ['a']",
  ],
  ['clock-sync', 'test_clocks_agree', 'tests/test_clocks.py', 'assert drift() < 5', 'assert 9 < 5'],
  ['stock-watch', 'test_sees_the_update', 'tests/test_watch.py', 'assert watch.seen', 'assert False'],
].map(([name = '', test = '', file = '', assertion = '', message = '']) => ({
  name,
  test,
  file,
  message,
  code: [`def ${test}():`, '    start()', `    ${assertion}`],
  line: 3,
}));

/** Creates a case in which the last passing build has the same commit, because a date in the test is past. */
function createDatedCase(
  parent: string,
  tested: Tested & { readonly proof: string; readonly beyond: readonly string[] },
): LoopCase {
  const tell = ([, second = '']: string[]): Facts => ({
    past: [{ status: 'passed', commit: second }],
    truth: {
      categories: ['TEST_FAILURE'],
      cause: [[tested.test]],
      beyondLog: [tested.beyond],
      suspect: { commit: null, path: tested.file },
      fix: [[tested.file, tested.test]],
      settledBy: ['read_test_file'],
      proof: tested.proof,
      because: 'nothing changed since the passing build: the code of the test holds a date that is over',
    },
  });
  return createCase(parent, tested, tell, [begin(tested), note('about dates')]);
}

const DATED = [
  {
    name: 'license-keys',
    test: 'test_key_is_valid',
    file: 'tests/test_keys.py',
    code: [
      'from datetime import date',
      '',
      'LAST_DAY = date(2026, 1, 31)',
      '',
      'def test_key_is_valid():',
      '    assert is_valid(LAST_DAY)',
    ],
    line: 6,
    message: 'assert False',
    proof: 'LAST_DAY = date(2026, 1, 31)',
    beyond: ['date(2026, 1, 31)', '2026'],
  },
  {
    name: 'season-prices',
    test: 'test_early_price',
    file: 'tests/test_prices.py',
    code: ['SEASON = "2025"', '', 'def test_early_price():', '    assert early_price(SEASON) == 90'],
    line: 4,
    message: 'assert 120 == 90',
    proof: 'SEASON = "2025"',
    beyond: ['SEASON = "2025"', '2025'],
  },
  {
    name: 'voucher-codes',
    test: 'test_voucher_counts',
    file: 'tests/test_vouchers.py',
    code: [
      'UNTIL = "2026-06-30"',
      '',
      'def test_voucher_counts():',
      '    assert redeem("SUN", until=UNTIL) == 5',
    ],
    line: 4,
    message: 'assert 0 == 5',
    proof: 'UNTIL = "2026-06-30"',
    beyond: ['2026-06-30'],
  },
];

/**
 * Creates a case in which the same failure was fixed before by changing one file. The change since then is a
 * note.
 */
function createFixedCase(parent: string, tested: Tested & { readonly mends: string }): LoopCase {
  const mend: PlannedCommit = {
    author: 'Ines Vale',
    message: `Renew ${tested.mends}`,
    edits: [replace(tested.mends, 'first', 'second')],
  };
  const begun = begin(tested);
  const whole = { ...begun, edits: begun.edits.concat(create(tested.mends, 'first')) };
  const tell = ([first = '', mended = '']: string[]): Facts => ({
    past: [
      { status: 'failed', commit: first, log: printTest(tested) },
      { status: 'passed', commit: mended },
    ],
    truth: {
      categories: ['TEST_FAILURE'],
      cause: [[tested.test]],
      beyondLog: [[tested.mends]],
      suspect: null,
      fix: [[tested.mends]],
      settledBy: ['read_past_fixes'],
      proof: tested.mends,
      because: 'the same failure went away when this file was renewed, and nothing else changed since',
    },
  });
  return createCase(parent, tested, tell, [whole, mend, note('about renewal')]);
}

const MENDED = [
  [
    'gate-certificates',
    'test_gate_trusts_the_pair',
    'tests/test_gate.py',
    'assert handshake("gate") == "ok"',
    "AssertionError: assert 'expired' == 'ok'",
    'fixtures/gate.pem',
  ],
  [
    'currency-sheets',
    'test_sheet_is_current',
    'tests/test_sheets.py',
    'assert sheet_age() < 30',
    'assert 31 < 30',
    'data/sheet.csv',
  ],
  [
    'map-tiles',
    'test_tiles_match',
    'tests/test_tiles.py',
    'assert checksum("tiles") == remote()',
    "AssertionError: assert 'a1' == 'b2'",
    'assets/tiles.lock',
  ],
].map(([name = '', test = '', file = '', assertion = '', message = '', mends = '']) => ({
  name,
  test,
  file,
  message,
  mends,
  code: [`def ${test}():`, `    ${assertion}`],
  line: 2,
}));
