import { describe, expect, test } from 'vitest';
import { CATEGORIES, type Category } from '../../src/domain/category.ts';
import type { Evidence, ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import { chooseCalls, correctCall, planNext } from '../../src/judge/choose-tools.ts';
import { readClues } from '../../src/judge/clues.ts';
import type { Insight, Plan } from '../../src/ports/analyst.ts';
import type { ToolDescription } from '../../src/ports/toolbox.ts';
import { describeTools } from '../../src/tools/all-tools.ts';
import { createInsight, createSubject, logEvidence } from './subject.ts';

const ALWAYS = ['search_knowledge', 'search_error_library', 'count_consecutive_failures'];
const COMPILE =
  "src/scales.ts(40,7): error TS2339: Property 'grams' does not exist on type 'Basket'.\n##[error]Process completed with exit code 2.\n";
const DISK = 'tar: basket.tar: Cannot write: No space left on device\nexit status 2\n';
const ASSERTION = `tests/test_scales.py::test_weighs FAILED
E       AssertionError: assert 3 == 0
tests/test_scales.py:7: AssertionError
FAILED tests/test_scales.py::test_weighs - AssertionError: assert 3 == 0
`;
const WEAK: Plan = { thought: '', confidence: 0.5, enough: false, retrieval: 0.2 };

/** What is known of the real tools, by which they are chosen. */
const ROWS = new Map(describeTools().map((row) => [row.name, row]));

function createTool(
  name: string,
  properties: Record<string, unknown> = {},
  more: Partial<ToolDescription> = {},
): ToolDescription {
  const always = ALWAYS.includes(name);
  const parameters = Object.keys(properties).length === 0 ? {} : { type: 'object', properties };
  return {
    ...ROWS.get(name),
    name,
    question: name,
    categories: CATEGORIES,
    always,
    costClass: 'low',
    usualLatencyMs: 100,
    fallback: name === 'search_web',
    parameters,
    ...more,
  };
}

const OFFERED = [
  ...ALWAYS,
  'read_file',
  'read_blame',
  'search_code',
  'read_commit_history',
  'read_build_log',
  'read_console_output',
  'read_failure_history',
  'find_similar_failures',
  'read_test_file',
  'search_web',
].map((name) => createTool(name));

const argumentsFor = (name: string, log: string) =>
  ROWS.get(name)?.argumentsFrom?.(readClues(createSubject(log)));

function createOutcome(call: ToolCall, status: ToolOutcome['status'] = 'empty'): ToolOutcome {
  return { call, status, findings: [], summary: '', milliseconds: 1, attempts: 1 };
}

function withFirstRound(log: string, more: Partial<Insight> = {}): Insight {
  const first = chooseCalls({ ...createInsight(log), plan: WEAK, offered: OFFERED });
  return createInsight(log, { round: 2, outcomes: first.map((call) => createOutcome(call)), ...more });
}

const names = (calls: readonly ToolCall[]) => calls.map((call) => call.tool);

describe('choosing tools', () => {
  test.each([
    [COMPILE, ['read_blame', 'read_file']],
    [ASSERTION, ['read_failure_history', 'read_test_file']],
  ])('calls those that always run first, then the two most informative', (log, telling) => {
    const calls = names(chooseCalls({ ...createInsight(log), plan: WEAK, offered: OFFERED }));
    expect(calls).toEqual(ALWAYS.concat(telling));
  });

  test('calls a tool with good expected results first, and one with poor results last', () => {
    const insight = createInsight(ASSERTION);
    const build = { ...insight.subject.build, branch: 'main', commit: 'c0ffee' };
    const subject = { ...insight.subject, build };
    const asked = (outlooks: Record<string, 'good' | 'poor'>) => {
      const offered = OFFERED.concat(
        ['changed_since_green', 'read_past_fixes'].map((name) => createTool(name)),
      );
      const told = offered.map((toolDescription) => {
        const outlook = outlooks[toolDescription.name];
        return outlook === undefined ? toolDescription : { ...toolDescription, outlook };
      });
      return names(chooseCalls({ ...insight, subject, plan: WEAK, offered: told })).slice(ALWAYS.length);
    };
    const [changed, mended] = ['changed_since_green', 'read_past_fixes'];
    expect(asked({ [changed]: 'good', [mended]: 'poor' }).slice(0, 2)).toEqual([
      changed,
      'read_failure_history',
    ]);
    expect(asked({ [changed]: 'poor', [mended]: 'good' }).slice(0, 2)).toEqual([
      mended,
      'read_failure_history',
    ]);
    expect(asked({ [changed]: 'poor', [mended]: 'poor' })).toEqual([
      'read_failure_history',
      'read_test_file',
      changed,
    ]);
  });

  test.each([
    "src/client.ts(1,34): error TS2304: Cannot find name 'RetryPolicy'.",
    'Traceback (most recent call last):\n  File "pages/render.py", line 2, in render\nNameError: name \'slugify\' is not defined',
  ])('searches the code first if a name is not defined: %s', (log) => {
    const calls = names(chooseCalls({ ...createInsight(log), plan: WEAK, offered: OFFERED }));
    expect(calls[ALWAYS.length]).toBe('search_code');
  });

  test('reads the files that the log names, including guesses', () => {
    const [call] = chooseCalls({
      ...createInsight(COMPILE),
      plan: WEAK,
      offered: [{ ...createTool('find_files'), always: true }],
    });
    expect(call).toMatchObject({ tool: 'find_files', args: { paths: ['src/scales.ts'] } });
  });

  test('also asks who else had the failure, if it has a fingerprint and a branch', () => {
    const insight = createInsight(ASSERTION);
    const build = { ...insight.subject.build, branch: 'topic' };
    const asked = (more: Partial<Insight['subject']>) =>
      names(
        chooseCalls({
          ...insight,
          subject: { ...insight.subject, build, ...more },
          plan: WEAK,
          offered: OFFERED,
        }),
      );
    expect(asked({})).toEqual(ALWAYS.concat('read_failure_history', 'read_test_file'));
    // A test has a name also where its message is no identity.
    expect(asked({ generic: true })).toContain('read_failure_history');
  });

  test('also asks what changed, and for the code of a crash if no compiler names file and line', () => {
    const asked = (log: string) => {
      const insight = createInsight(log);
      const subject = {
        ...insight.subject,
        build: { ...insight.subject.build, branch: null, commit: 'c0ffee' },
      };
      const classification = { ...insight.classification, category: 'CODE_ERROR' as const };
      const offered = [...OFFERED, createTool('changed_since_green')];
      return names(chooseCalls({ ...insight, subject, classification, plan: WEAK, offered })).slice(
        ALWAYS.length,
      );
    };
    expect(
      asked(
        'java.lang.NullPointerException\n\tat shop.Cart.total(Cart.java:3)\n\tat shop.Main.main(Main.java:9)',
      ),
    ).toEqual(['changed_since_green', 'read_blame', 'read_file']);
    expect(asked(COMPILE)).toEqual(['changed_since_green', 'read_blame']);
  });

  test('reads file and blame if a code error names file and line', () => {
    const calls = chooseCalls({ ...createInsight(COMPILE), plan: WEAK, offered: OFFERED });
    expect(calls).toContainEqual(
      expect.objectContaining({
        tool: 'read_file',
        args: { path: 'src/scales.ts', lineStart: 20, lineEnd: 60 },
      }),
    );
    expect(calls).toContainEqual(
      expect.objectContaining({
        tool: 'read_blame',
        args: { path: 'src/scales.ts', lineStart: 37, lineEnd: 43 },
      }),
    );
  });

  test('reads the log for infrastructure errors, and no code', () => {
    const calls = names(chooseCalls({ ...withFirstRound(DISK), plan: WEAK, offered: OFFERED }));
    expect(calls).toEqual(['read_failure_history', 'read_build_log', 'read_console_output']);
    expect(calls).not.toContain('read_file');
  });

  test('reads the test and its history for a failed expectation', () => {
    const calls = chooseCalls({ ...createInsight(ASSERTION), plan: WEAK, offered: OFFERED });
    expect(names(calls).slice(ALWAYS.length)).toEqual(['read_failure_history', 'read_test_file']);
    expect(calls.at(-1)?.args.test).toContain('test_weighs');
  });

  test('calls nothing more if retrieval is good, no place is named and the confidence is high', () => {
    const plan = { ...WEAK, retrieval: 0.9, confidence: 0.8 };
    expect(chooseCalls({ ...withFirstRound(DISK), plan, offered: OFFERED })).toEqual([]);
  });

  test('calls more from the second round on while the confidence is low, whatever was retrieved', () => {
    const plan = { ...WEAK, retrieval: 0.9, confidence: 0.4 };
    expect(chooseCalls({ ...withFirstRound(DISK), plan, offered: OFFERED })).not.toEqual([]);
  });

  test('makes new calls for an answer that was sent back, however well it was explained', () => {
    const plan = { ...WEAK, retrieval: 0.9, confidence: 0.8 };
    const insight = { ...withFirstRound(DISK), gaps: ['no log line is quoted for the cause'] };
    const calls = chooseCalls({ ...insight, plan, offered: OFFERED });
    expect(calls).not.toEqual([]);
    expect(insight.outcomes.map(({ call }) => call.tool)).not.toContain(calls[0]?.tool);
  });

  test('calls nothing once the plan has enough', () => {
    expect(
      chooseCalls({ ...withFirstRound(COMPILE), plan: { ...WEAK, enough: true }, offered: OFFERED }),
    ).toEqual([]);
  });

  test('never repeats a call, never calls a tool that is not offered, and searches the web last', () => {
    let insight = createInsight(COMPILE);
    const seen = new Set<string>();
    const order: string[] = [];
    for (let round = 1; round <= 8; round += 1) {
      const calls = chooseCalls({ ...insight, round, plan: WEAK, offered: OFFERED });
      for (const call of calls) {
        const key = JSON.stringify([call.tool, call.args]);
        expect(seen).not.toContain(key);
        seen.add(key);
        order.push(call.tool);
        expect(OFFERED.map((offered) => offered.name)).toContain(call.tool);
      }
      insight = { ...insight, outcomes: [...insight.outcomes, ...calls.map((call) => createOutcome(call))] };
    }
    expect(order.at(-1)).toBe('search_web');
    expect(chooseCalls({ ...insight, plan: WEAK, offered: OFFERED })).toEqual([]);
  });

  test('does not search the web if another tool helped', () => {
    const finding = { title: 'x', text: 'x', source: 'x' };
    const outcomes = OFFERED.filter((entry) => !entry.fallback).map((entry) => ({
      ...createOutcome({ tool: entry.name, args: {}, why: '' }, 'ok'),
      findings: [finding],
    }));
    const calls = chooseCalls({
      ...createInsight(DISK, { outcomes, round: 3 }),
      plan: WEAK,
      offered: OFFERED,
    });
    expect(names(calls)).not.toContain('search_web');
  });

  test('gives a tool only the arguments that its schema contains', () => {
    const offered = [
      createTool('search_knowledge', { query: {} }),
      createTool('search_error_library', { query: {}, limit: {} }),
    ];
    const calls = chooseCalls({ ...createInsight(COMPILE), plan: WEAK, offered });
    expect(calls.map((call) => Object.keys(call.args))).toEqual([['query'], ['limit']]);
  });

  test('reads only manifests for a dependency error and only CI files for a configuration error', () => {
    const paths = (log: string, category: Category) => {
      const insight = withFirstRound(log);
      const calls = [1, 2, 3].flatMap((round) =>
        chooseCalls({
          ...insight,
          round: round + 1,
          classification: { ...insight.classification, category },
          plan: WEAK,
          offered: OFFERED,
        }),
      );
      return calls.filter((call) => call.tool === 'read_file').map((call) => call.args.path);
    };
    for (const path of paths(`npm error code ERESOLVE\n${COMPILE}`, 'DEPENDENCY_ERROR'))
      expect(path).toBe('package.json');
    expect(paths(COMPILE, 'CONFIG_ERROR')).toEqual([]);
  });
});

describe('a code error with the code available', () => {
  const offered = [
    createTool('find_files', {}, { always: true }),
    ...OFFERED,
    createTool('changed_since_green'),
  ];
  /** A crash without a line of the project, and one with. */
  const BARE =
    'java.lang.NullPointerException\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n';
  const LOCATED =
    'java.lang.NullPointerException\n\tat shop.Cart.total(Cart.java:3)\n\tat shop.Main.main(Main.java:9)';
  const CODE = ['find_files', 'changed_since_green', 'read_blame', 'read_file'];

  function createCrash(log: string, more: Partial<Insight> = {}): Insight {
    const insight = createInsight(log, more);
    const build = { ...insight.subject.build, commit: 'c0ffee' };
    const classification = {
      ...insight.classification,
      category: 'CODE_ERROR' as const,
      confidence: 0.9,
      abstained: false,
    };
    return { ...insight, subject: { ...insight.subject, build }, classification };
  }

  /** The insight after the first round, with a document that fits this well. */
  function withSearches(log: string, score: number, confidence = 0.9): Insight {
    const found = {
      id: 'E9',
      tool: 'search_knowledge',
      title: 'ERR003',
      text: 'x',
      source: 'knowledge/ERR003',
      score,
    };
    const outcomes = ALWAYS.map((name) => createOutcome({ tool: name, args: {}, why: '' }));
    const insight = createCrash(log, { round: 2, outcomes });
    const classification = { ...insight.classification, confidence };
    return { ...insight, classification, evidence: [...insight.evidence, found] };
  }

  const askedOfCode = (insight: Insight) => {
    const plan = planNext({ ...insight, offered });
    return names(chooseCalls({ ...insight, plan, offered })).filter((name) => CODE.includes(name));
  };

  test('leads to a search of known causes before the code, unless the error has a line of the project', () => {
    expect(askedOfCode(createCrash(BARE))).toEqual([]);
    expect(askedOfCode(createCrash(LOCATED))).toEqual(CODE);
  });

  test('does not end the loop while the code has to be read', () => {
    const insight = withSearches(BARE, 0.2, 0.97);
    expect(planNext({ ...insight, offered }).confidence).toBeLessThan(0.9);
    expect(planNext({ ...insight, offered: [] }).confidence).toBeGreaterThan(0.9);
  });

  test('does not lead to the code if a retrieved document explains it', () => {
    const explained = withSearches(BARE, 0.8);
    expect(planNext({ ...explained, offered }).enough).toBe(true);
    expect(askedOfCode(explained)).toEqual([]);
  });

  test('leads to the code despite a document if it is known what changed since the last passed build', () => {
    const explained = withSearches(BARE, 0.8);
    const changed = offered.map((toolDescription) =>
      toolDescription.name === 'changed_since_green'
        ? { ...toolDescription, outlook: 'good' as const }
        : toolDescription,
    );
    const plan = planNext({ ...explained, offered: changed });
    expect(plan).toMatchObject({ enough: false });
    expect(names(chooseCalls({ ...explained, plan, offered: changed }))).toContain('changed_since_green');
  });

  test.each([
    ['nothing retrieved explains it', withSearches(BARE, 0.5)],
    ['the cause is unsure after a round', withSearches(BARE, 0.8, 0.55)],
  ])('leads to the code if %s', (_why, insight) => {
    expect(planNext({ ...insight, offered }).enough).toBe(false);
    expect(askedOfCode(insight)).toEqual(['find_files', 'changed_since_green']);
  });
});

describe('planning', () => {
  test('never has enough before the first call, however clear the log is', () => {
    const plan = planNext(createInsight(COMPILE));
    expect(plan.enough).toBe(false);
    expect(plan.confidence).toBeLessThan(0.9);
  });

  test('has enough once a clear cause was looked up, and states how well the retrieved documents fit', () => {
    const subject = createSubject(COMPILE);
    const document: Evidence = {
      id: 'E9',
      tool: 'search_knowledge',
      title: 'ERR001: It does not compile',
      text: 'x',
      source: 'knowledge/ERR001',
      score: 0.8,
      data: { category: 'CODE_ERROR', kind: 'type_error' },
    };
    const plan = planNext(
      withFirstRound(COMPILE, { subject, evidence: [...logEvidence(subject), document] }),
    );
    expect(plan).toMatchObject({ enough: true, retrieval: 0.8 });
  });

  test('does not have enough if verify found gaps, or the classification abstained', () => {
    expect(planNext(withFirstRound(COMPILE, { gaps: ['no line of the log is quoted'] })).enough).toBe(false);
    expect(planNext(withFirstRound('Finished: FAILURE\n')).enough).toBe(false);
  });
});

describe('correcting a call', () => {
  const subject = createSubject(COMPILE);
  const readFile = {
    ...createTool('read_file'),
    parameters: {
      type: 'object',
      required: ['path'],
      properties: {
        path: { type: 'string' },
        lineStart: { type: 'integer', minimum: 1 },
        lineEnd: { type: 'integer', minimum: 1 },
      },
    },
  };

  test('turns text into numbers, swaps a reversed range and drops unknown fields', () => {
    const call = {
      tool: 'read_file',
      args: { path: 'a.ts', lineStart: '9', lineEnd: 3, colour: 'red' },
      why: '',
    };
    expect(correctCall(call, readFile, subject)?.args).toEqual({ path: 'a.ts', lineStart: 3, lineEnd: 9 });
  });

  test('fills a missing field from the facts', () => {
    expect(correctCall({ tool: 'read_file', args: {}, why: '' }, readFile, subject)?.args).toEqual({
      path: 'src/scales.ts',
    });
  });

  test('gives up if the form is correct', () => {
    expect(correctCall({ tool: 'read_file', args: { path: 'a.ts' }, why: '' }, readFile, subject)).toBeNull();
    expect(
      correctCall({ tool: 'read_file', args: {}, why: '' }, readFile, createSubject('hello\n')),
    ).toBeNull();
  });
});

describe('the query for the knowledge base', () => {
  test('contains later messages too if the first line is only the command', () => {
    const log =
      'burn-in --rack 7\nrack-agent: thermal budget exhausted, refusing new burn-in\n##[error]Process completed with exit code 1.\n';
    const query = argumentsFor('search_knowledge', log)?.query;
    expect(query).toContain('rack-agent: thermal budget exhausted');
  });
});

describe('the query for the web', () => {
  const query = (log: string) => argumentsFor('search_web', log)?.query;

  test('is the line that states the error, once', () => {
    expect(query('TypeError: hook is not a function\n    at run (src/a.js:3:1)\n')).toBe(
      'TypeError: hook is not a function',
    );
    expect(query(DISK)).toBe('tar: basket.tar: Cannot write: No space left on device');
    expect(
      query(
        'working\n##[error]The scale wants calibration 4\n##[error]Process completed with exit code 1.\n',
      ),
    ).toBe('The scale wants calibration 4');
  });

  test('is empty if the log states only how the step ended', () => {
    expect(query('starting job\ndone.\n##[error]Process completed with exit code 1.\n')).toBeUndefined();
  });
});
