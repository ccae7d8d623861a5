import { describe, expect, it } from 'vitest';
import type { ReportCase, ReportCaseMore } from '../../../src/replay/commands/report-cases.ts';
import { type ReportSet, renderReplayReport } from '../../../src/replay/commands/report-page.ts';
import type { Figure } from '../../../src/replay/figures/figure.ts';

const HOSTILE =
  '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp.exe\u0000\u001b[31m</pre></style>';

describe('the report of a replay as one page', () => {
  it('makes no requests and runs no code, whatever its texts contain', () => {
    const hostile = createCase({
      id: HOSTILE,
      truth: HOSTILE,
      error: HOSTILE,
      more: {
        ...MORE,
        rootCause: HOSTILE,
        trueCause: HOSTILE,
        quotes: [{ source: HOSTILE, line: 1, text: HOSTILE }],
        failingTests: [HOSTILE],
      },
    });
    const set = createSet([hostile], {
      name: HOSTILE,
      heading: HOSTILE,
      sections: [{ title: HOSTILE, figures: [findFigure({ name: HOSTILE, against: [HOSTILE] })] }],
    });
    const page = renderReplayReport([[HOSTILE, HOSTILE]], [set, set]);
    expect(page).toContain('default-src &#39;none&#39;; style-src &#39;sha256-');
    expect(page).not.toMatch(
      /<(?:script|img|link|iframe|form|object)\b|\son\w+="|\sstyle="|url\(|@import|\u202e|\u0000|\u001b/,
    );
    expect(page.match(/<\/style>/g)).toHaveLength(1);
    expect([...page.matchAll(/(?:href|src)="([^#"][^"]*)"/g)]).toEqual([]);
  });

  it('links each figure and each cell of the matrix to its cases', () => {
    const cases = [
      createCase({ id: 'wrong/1', isRight: false, said: 'INFRA_ERROR' }),
      createCase({ id: 'right/1', more: null }),
    ];
    const confusion = [
      { truth: 'CODE_ERROR', said: 'CODE_ERROR', ids: ['right/1'] },
      { truth: 'CODE_ERROR', said: 'INFRA_ERROR', ids: ['wrong/1'] },
    ];
    const page = renderReplayReport(SETTINGS, [createSet(cases, { confusion })]);
    expect(page).toContain(
      '<summary>1 case against it</summary><ul class="ids"><li><a href="#s1-c1">wrong/1</a></li></ul>',
    );
    expect(page).toContain('1 of 2 categories are right');
    expect(page).toContain(
      '<a href="#s1-CODE_ERROR-INFRA_ERROR" aria-label="1 CODE_ERROR called INFRA_ERROR">1</a>',
    );
    const targets = new Set([...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !targets.has(id))).toEqual([]);
    expect(targets.size).toBe([...page.matchAll(/\sid="/g)].length);
  });

  it('has two places for two cases with one id, and links to the answered one', () => {
    const repeated = createCase({
      id: 'twice',
      error: 'line 2, field id: "twice" is already the ID of line 1',
      more: null,
    });
    const answered = createCase({ id: 'twice', isRight: false, said: 'INFRA_ERROR' });
    const sections = [{ title: 'category', figures: [findFigure({ against: ['twice'] })] }];
    const page = renderReplayReport(SETTINGS, [createSet([repeated, answered], { sections })]);
    const targets = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(targets).size).toBe(targets.length);
    expect(page).toContain('<a href="#s1-c2">twice</a>');
  });

  it('shows a case with label, quotations and excerpts, collapsed', () => {
    const page = renderReplayReport(SETTINGS, [
      createSet([createCase({ isRight: false, said: 'INFRA_ERROR', probability: 0.874 })]),
    ]);
    expect(page).toContain(
      'True: <span class="category">CODE_ERROR</span>. Said: <span class="category">INFRA_ERROR</span> with 87 %',
    );
    expect(page).toContain('<span class="quiet">log:7</span> <code>Error: boom</code>');
    expect(page).toContain('<details><summary>3 excerpts from the log</summary>');
    expect(page).toContain('2 more are too long for this page');
  });

  it('lists cases without further details, and counts those above the limit', () => {
    const many = Array.from({ length: 6_000 }, (_, index) => createCase({ id: `case-${index}`, more: null }));
    const page = renderReplayReport(SETTINGS, [createSet(many, { stopped: '$1 spent' })]);
    expect(page.match(/<tr id="/g)).toHaveLength(5_000);
    expect(page).toContain('1000 more are only in the results file');
    expect(page).toContain(
      '<strong>Not all cases were replayed:</strong> $1 spent. All figures cover only the 6000 replayed cases.',
    );
  });

  it('marks what is notable, and distinguishes the text of a model', () => {
    const sections = [
      { title: 'probability', figures: [findFigure({ name: 'confident errors', value: 0.5 })] },
      { title: 'opinion', figures: [findFigure({ judged: true })] },
    ];
    const page = renderReplayReport(SETTINGS, [createSet([], { sections })]);
    // In the tiles and in the table.
    expect(page.match(/look here/g)).toHaveLength(2);
    expect(page.match(/A language model's opinion/g)).toHaveLength(1);
  });
});

const SETTINGS = [['analyst', 'rules']] as const;

const MORE: ReportCaseMore = {
  kind: 'compile_error',
  action: 'auto_notify',
  answerConfidence: 0.9,
  rootCause: 'A name is misspelt.',
  fixRecommendation: 'Spell it.',
  trueCause: null,
  trueFix: null,
  quotes: [{ source: 'log', line: 7, text: 'Error: boom' }],
  tools: [{ tool: 'grep_log', status: 'ok' }],
  suspects: [{ path: 'src/a.ts', line: 4, isTrue: true }],
  faultyFiles: ['src/a.ts'],
  failingTests: [],
  excerpts: [{ source: 'log', lineStart: 6, lineEnd: 7, reason: 'error', text: 'at\nError: boom' }],
  moreExcerpts: 2,
  seconds: 0.4,
  costUsd: 0.01,
  iterations: 2,
};

function createCase(given: Partial<ReportCase>): ReportCase {
  return {
    id: 'a',
    truth: 'CODE_ERROR',
    said: 'CODE_ERROR',
    probability: 0.9,
    isRight: true,
    error: null,
    more: MORE,
    ...given,
  };
}

function findFigure(given: Partial<Figure>): Figure {
  return { name: 'category accuracy', value: 0.5, interval: [0.1, 0.9], cases: 2, against: [], ...given };
}

function createSet(cases: readonly ReportCase[], given: Partial<ReportSet> = {}): ReportSet {
  const sections = [
    { title: 'category', figures: [findFigure({ against: cases.slice(0, 1).map(({ id }) => id) })] },
  ];
  const stated = [
    { name: 'category’s probability', judged: [{ at: 0.9, right: true, count: 60 }], threshold: 0.85 },
  ];
  return {
    name: 'set',
    heading: 'set: analyst rules',
    stopped: null,
    sections,
    stated,
    confusion: [],
    cases,
    ...given,
  };
}
