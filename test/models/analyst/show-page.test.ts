import { describe, expect, test } from 'vitest';
import type { Evidence, ToolOutcome } from '../../../src/domain/evidence.ts';
import { showPage } from '../../../src/models/analyst/llm-analyst.ts';
import { showEvidence } from '../../../src/models/analyst/show-evidence.ts';
import { showAnswer, showSituation } from '../../../src/models/analyst/show-facts.ts';
import { sampleSubject } from '../../support/subject.ts';

const numbered = (from: number, count: number, text: (line: number) => string) =>
  Array.from({ length: count }, (_, i) => text(from + i)).join('\n');

function createPiece(id: string, from: number, text: string, more: Partial<Evidence> = {}): Evidence {
  const lineEnd = from + text.split('\n').length - 1;
  return {
    id,
    tool: 'log',
    title: 'failed test',
    source: 'build.log',
    lineStart: from,
    lineEnd,
    text,
    ...more,
  };
}

function createOutcome(id: string, round: number): ToolOutcome {
  const call = {
    tool: 'view_log',
    args: { from: 1, to: 40, source: 'build.log' },
    why: 'to see how it began',
  };
  return {
    call,
    status: 'ok',
    findings: [],
    summary: '1 finding',
    milliseconds: 1,
    attempts: 1,
    round,
    evidence: [id],
  };
}

describe('the evidence shown to a model', () => {
  test('includes all lines that were requested in the last round, whatever else there is', () => {
    const noise = createPiece(
      'E1',
      1_000,
      numbered(1_000, 400, (line) => `error: part ${line} ${'x'.repeat(200)}`),
    );
    const asked = createPiece(
      'E2',
      1,
      numbered(1, 40, (line) => `Downloading layer ${line}`),
      { tool: 'view_log' },
    );
    const page = showPage(
      { subject: sampleSubject(), evidence: [noise, asked], outcomes: [createOutcome('E2', 1)] },
      2_000,
    );
    for (let line = 1; line <= 40; line++) expect(page).toContain(`${line}| Downloading layer ${line}\n`);
  });

  test('includes completely what a model requested, and the beginning of a document that the rules looked up', () => {
    const text = numbered(1, 60, (line) => `Cause ${line} of a failure like this one, at some length`);
    const runbook: Evidence = {
      id: 'E1',
      tool: 'search_knowledge',
      title: 'Rounding',
      source: 'knowledge/ERR008',
      text,
    };
    const known = { subject: sampleSubject(), evidence: [runbook], outcomes: [createOutcome('E1', 1)] };
    expect(showPage({ ...known, chosenRounds: [1] }, 6_000)).toContain('Cause 60 of');
    expect(showPage({ ...known, chosenRounds: [] }, 6_000)).toContain('Cause 1 of');
    expect(showPage({ ...known, chosenRounds: [] }, 6_000)).not.toContain('Cause 60 of');
    const named = showPage({ ...known, chosenRounds: [] }, 6_000, { onlyNamed: true });
    expect(named).toContain('E1: Rounding');
    expect(named).not.toContain('Cause 1 of');
  });

  test('includes an informative line with its surroundings, from the middle of a long range', () => {
    const long = numbered(1, 500, (line) =>
      line === 250
        ? 'SyntaxError: unexpected token in cart.ts'
        : `at frame ${line} of the stack ${'y'.repeat(40)}`,
    );
    const informative = [{ source: 'build.log', line: 250 }];
    const page = showEvidence([createPiece('E1', 1, long)], { room: 1_500, informative });
    expect(page).toContain('250| SyntaxError: unexpected token in cart.ts');
    expect(page).toContain('249| at frame 249');
    expect(page).toContain('252| at frame 252');
  });

  test('has each line once, under the evidence that contains it, however many do', () => {
    const lines = numbered(10, 3, (line) => `error: no such table t${line}`);
    const hits = [10, 11, 12].map((line, i) =>
      createPiece(`E${i + 2}`, line, `error: no such table t${line}`, { tool: 'grep_log' }),
    );
    const page = showEvidence([createPiece('E1', 10, lines), ...hits], { room: 2_000 });
    expect(page).toBe(
      `E1: source build.log, lines 10-12 (failed test)\n${numbered(10, 3, (line) => `${line}| error: no such table t${line}`)}`,
    );
  });

  test('keeps the number of a cited line inside of a longer excerpt', () => {
    const long = numbered(10, 5, (line) => `error: no such table t${line}`);
    const cited = createPiece('E2', 12, 'error: no such table t12', { tool: 'grep_log' });
    const page = showEvidence([createPiece('E1', 10, long), cited], { room: 2_000, cited: new Set(['E2']) });
    expect(page).toContain('E1, E2 line 12: source build.log, lines 10-14 (failed test)\n');
  });

  test('states which evidence contains which lines if several are joined', () => {
    const lines = (from: number) => numbered(from, 35, (line) => `error: no such table ${'t'.repeat(line)}`);
    const asked = [1, 36].map((from, i) => createPiece(`E${i + 2}`, from, lines(from), { tool: 'view_log' }));
    const page = showEvidence([createPiece('E1', 27, 'x\ny'), ...asked], {
      room: 20_000,
      newest: new Set(['E2', 'E3']),
    });
    expect(page).toMatch(/^E2 lines 1-35, E3 lines 36-70: source build.log, lines 1-70 \(/);
  });

  test('states who wrote the requested lines, and when', () => {
    const by = (id: string, line: number, who: string) =>
      createPiece(id, line, `code ${line}`, {
        tool: 'read_blame',
        source: 'src/cart.ts',
        title: `4b9e4b50f6 ${who}, 2026-05-11: Round the total down, lines ${line}–${line}`,
      });
    const blamed = [by('E1', 3, 'Ada'), by('E2', 4, 'Grace'), by('E3', 5, 'Joan')];
    const show = (newest: string[]) => showEvidence(blamed, { room: 4_000, newest: new Set(newest) });
    for (const words of ['E1: 4b9e4b50f6 Ada, 2026-05-11', 'E2: 4b9e4b50f6 Grace', 'E3: 4b9e4b50f6 Joan'])
      expect(show(['E1', 'E2', 'E3'])).toContain(words);
    expect(show([])).not.toContain('Joan');
  });

  test('counts a repeated line instead of showing it, with the places', () => {
    const log = numbered(1, 90, (line) => `ENOENT: no such file, open 'dist/main.js' at 0x7f36${line}ab`);
    const page = showEvidence([createPiece('E1', 1, log)], { room: 8_000 });
    expect(page.match(/^\d+\| /gm)).toHaveLength(1);
    expect(page).toContain('   [repeats on lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 77 more]');
  });

  test('states which requested lines were too many to be shown', () => {
    const asked = createPiece(
      'E1',
      1,
      numbered(1, 300, (line) => `line ${line} ${'w'.repeat(90)}`),
      { tool: 'view_log' },
    );
    const page = showEvidence([asked], { room: 2_000, newest: new Set(['E1']) });
    const shown = page.match(/^\d+\| /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(50);
    expect(page).toContain(`Too long to be shown at once: build.log lines ${shown + 1}-300`);
  });

  test('includes completely what was just requested, even if it has no lines', () => {
    const text = `abc1234 Jane Doe 2026-11-02 ${'the whole message '.repeat(200)}end of it`;
    const commit: Evidence = { id: 'E1', tool: 'list_commits', title: 'commits', source: 'git', text };
    expect(showEvidence([commit], { room: 4_000, newest: new Set(['E1']) })).toContain('2026-11-02');
    const lines = text.replaceAll('message ', 'message\n');
    expect(showEvidence([{ ...commit, text: lines }], { room: 4_000, newest: new Set(['E1']) })).toContain(
      'end of it',
    );
  });

  test('cuts a long line so that its decisive part remains', () => {
    const line = `Command '${'-I/opt/include '.repeat(60)}' failed: clang: unsupported argument 'x' ${'-Wl,-z '.repeat(90)}end`;
    const page = showEvidence([createPiece('E1', 1, line)], { room: 4_000 });
    expect(page).toContain("unsupported argument 'x'");
    expect(page).toMatch(/^1\| Command '-I.*end$/m);
  });

  test("includes a short log completely: other steps too, but not the runner's output about itself", () => {
    const log = [
      '##[group]Runner Image',
      'Image: ubuntu-24.04',
      '##[endgroup]',
      '##[group]Run npm ci',
      'npm ci',
      'shell: /usr/bin/bash -e {0}',
      '##[endgroup]',
      'left-pad has no license',
      '##[group]Run npm test',
      'npm test',
      '##[endgroup]',
      'the total is 10.21',
      '##[error]Process completed with exit code 1.',
      'Post job cleanup.',
      'http.https://github.com/.extraheader',
    ].join('\n');
    const show = (from: number) =>
      showEvidence([createPiece('E1', from, log)], {
        room: 4_000,
        steps: [{ source: 'build.log', lineStart: from + 8, lineEnd: from + 12 }],
        fill: new Set(['E1']),
      });
    for (const shown of ['4| ##[group]Run npm ci', '8| left-pad', '10| npm test', '12| the total'])
      expect(show(1)).toContain(shown);
    for (const noise of ['Image: ubuntu', '5| npm ci', 'extraheader']) expect(show(1)).not.toContain(noise);
    expect(show(1_001)).not.toContain('left-pad');
  });

  test('always includes the failed command, even if a shell printed it', () => {
    const output = numbered(3, 200, (line) => `error: part ${line} ${'x'.repeat(100)}`);
    const log = `+ npm ci\n+ npm test\n${output}`;
    const page = showEvidence([createPiece('E1', 1_001, log)], {
      room: 1_000,
      steps: [{ source: 'build.log', lineStart: 1_001, lineEnd: 1_202 }],
    });
    expect(page).toContain('1002| + npm test');
    expect(page).not.toContain('+ npm ci');
  });

  test('omits progress, passed tests and the echo of other scripts, and keeps the command of the failed step', () => {
    const log = [
      '##[group]Run npm ci',
      'npm ci',
      'shell: /usr/bin/bash -e {0}',
      '##[endgroup]',
      'Downloading left-pad',
      '##[group]Run npm test',
      'npm test',
      'shell: /usr/bin/bash -e {0}',
      '##[endgroup]',
      ...Array.from({ length: 9 }, (_, i) => `ok ${i + 1} adds two numbers and ${i}`),
      'not ok 5 keeps the total',
      '##[error]Process completed with exit code 1.',
    ].join('\n');
    const page = showEvidence([createPiece('E1', 1, log)], {
      room: 4_000,
      steps: [{ source: 'build.log', lineStart: 6, lineEnd: 20 }],
    });
    expect(page).toContain('7| npm test');
    expect(page).toContain('19| not ok 5 keeps the total');
    for (const noise of ['2| npm ci', 'Downloading', 'numbers and 4']) expect(page).not.toContain(noise);
  });

  test('names what did not fit, and only counts documents that are hardly similar to the failure', () => {
    const document = (id: string, score: number): Evidence => ({
      id,
      tool: 'search_knowledge',
      title: `Page ${id}`,
      source: id,
      text: 'w'.repeat(3_000),
      score,
    });
    const page = showEvidence([document('E1', 0.9), document('E2', 0.4), document('E3', 0.1)], {
      room: 4_000,
    });
    expect(page).toMatch(/^E1: Page E1/);
    expect(page).toContain('Not shown here:\nE2: Page E2');
    expect(page).toContain('1 document that hardly resembles this failure: left out');
  });

  test('includes for the verifier all that is cited and quoted, with its surroundings', () => {
    const long = createPiece(
      'E1',
      1,
      numbered(1, 300, (line) => `error: number ${line} ${'z'.repeat(100)}`),
    );
    const cited = createPiece(
      'E2',
      900,
      numbered(900, 8, (line) => `cited line ${line}`),
      { tool: 'grep_log' },
    );
    const page = showEvidence([long, cited], {
      room: 1_000,
      cited: new Set(['E1', 'E2']),
      quoted: [{ source: 'build.log', line: 150 }],
    });
    expect(page).toContain('150| error: number 150');
    for (let line = 900; line < 908; line++) expect(page).toContain(`${line}| cited line ${line}`);
  });

  test('is limited however much is cited and quoted', () => {
    const many = Array.from({ length: 300 }, (_, i) =>
      createPiece(
        `E${i + 1}`,
        i * 20 + 1,
        numbered(i * 20 + 1, 12, (line) => `cited ${line} ${'c'.repeat(400)}`),
      ),
    );
    const page = showEvidence(many, {
      room: 4_000,
      cited: new Set(many.map(({ id }) => id)),
      quoted: many.map(({ source, lineStart = 1 }) => ({ source, line: lineStart })),
    });
    expect(page.length).toBeLessThan(6 * 4_000);
  });
});

test('the facts contain the failed step with its exit code, and nothing that the lines contain already', () => {
  const failedSections = [
    { source: 'build.log', name: 'Run npm test', lineStart: 100, lineEnd: 130, failed: true, exitCode: 1 },
  ];
  const page = showPage(
    {
      subject: sampleSubject({ failedSections }),
      evidence: [createPiece('E1', 120, 'FAIL test/cart.test.ts\n  expected 10.20, got 10.21')],
    },
    4_000,
  );
  expect(page).toContain('failed step: Run npm test (exit code 1)');
  expect(page).not.toContain('other error messages');
});

describe('the situation', () => {
  const classification = {
    because: 'b'.repeat(900),
    category: 'CODE_ERROR',
    kind: 'crash',
    confidence: 0.5,
    probabilities: {
      CODE_ERROR: 0.5,
      INFRA_ERROR: 0.5,
      CONFIG_ERROR: 0,
      DEPENDENCY_ERROR: 0,
      TEST_FAILURE: 0,
    },
    abstained: false,
  } as const;
  const insight = {
    subject: sampleSubject(),
    classification,
    evidence: [],
    outcomes: [createOutcome('E7', 2)],
    round: 3,
    gaps: ['who set it'],
  };

  test('is shown completely: reasons, thoughts, open questions, and calls with the evidence that they found', () => {
    const thought = 't'.repeat(900);
    const gaps = [{ missing: 'the configuration of vitest', tool: 'read_file', blocks: true }];
    const shown = showSituation(insight, { thought, confidence: 0.5, enough: false, retrieval: 0, gaps });
    expect(shown).toContain(classification.because);
    expect(shown).toContain(thought);
    expect(shown).toContain('- the configuration of vitest (blocks the answer): read_file');
    expect(shown).toContain('the last answer was sent back because of:\n- who set it');
    expect(shown).toContain('- view_log(from=1, to=40, source="build.log"): ok, 1 finding (E7)');
  });

  test('states for an answer which quotations are in their place, in readable form', () => {
    const quote = (line: number, text: string) => ({ source: 'build.log', line, text });
    const claims = [
      { text: 'It fails.', evidence: ['E1'], quotes: [quote(7, ': x is not defined'), quote(8, 'invented')] },
    ];
    const answer = {
      title: 't',
      rootCause: 'r',
      fixRecommendation: 'f',
      claims,
      suspects: [],
      hypotheses: [],
      confidence: 0.9,
    };
    const shown = showAnswer(answer, [
      createPiece('E1', 7, '\u001b[31mReferenceError\u001b[39m: x is not defined\nnext'),
    ]);
    expect(shown).toContain('quotes build.log:7: ReferenceError: x is not defined [stands there]');
    expect(shown).toContain('quotes build.log:8: invented [does NOT stand there]');
  });
});
