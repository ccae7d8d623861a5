import { describe, expect, it } from 'vitest';
import { findSlackFacts } from '../../../src/channels/slack/branch-facts.ts';
import { createSlackMessage, type Streak } from '../../../src/channels/slack/branch-message.ts';
import type { SlackMessage } from '../../../src/channels/slack/message.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { Situation } from '../../../src/ports/notices.ts';
import {
  createRecalledAnalysis,
  createUnsureAnalysis,
  sampleAnalysis,
  sampleBuild,
} from '../../support/sample-analysis.ts';
import {
  createBranchSituation,
  createDecision,
  createPassedSituation,
  openQuestion,
  sampleCause,
  sampleHead,
} from './slack-world.ts';

const LINKS = { publicUrl: 'https://fl.example/', decides: true };
const STREAK: Streak = {
  firstBuildId: 'bld_1',
  since: '2026-10-12T14:01:00.000Z',
  commit: 'a41f9c2d00000000000000000000000000000000',
  author: 'ada',
  seenToday: 1,
};

function createMessage(situation: Situation, streak: Partial<Streak> = {}, links = LINKS): SlackMessage {
  const facts = findSlackFacts(situation);
  if (facts === null) throw new Error('there is something to say');
  return createSlackMessage(facts, { ...STREAK, ...streak }, links);
}

const red = (analysis: Analysis, change = {}) =>
  createBranchSituation(sampleHead({ causes: [sampleCause(analysis, change)] }));

/** Texts and buttons, a line each. */
function formatMessage({ blocks }: SlackMessage): string {
  return blocks
    .map((block) =>
      'text' in block ? block.text : block.buttons.map(({ label }) => `[ ${label} ]`).join(' '),
    )
    .join('\n');
}

describe('the message about a broken branch', () => {
  it('has the cause, the change, its author, one line of evidence and the fix', () => {
    const message = createMessage(red(sampleAnalysis()));
    expect(formatMessage(message)).toBe(
      [
        ':red_circle: *main is red: The cart total is rounded twice* (Test failure, 91 %)',
        'shop/api ci #812 · since <!date^1791813660^{time}|14:01 UTC> · first failing commit a41f9c2 by ada · 3 tests',
        'Not known yet. No earlier build is known to compare with.',
        '> expected 10.20, got 10.21  (line 288501)',
        'Fix: Round once, after the sum, in src/cart/tax.ts:41.',
        'Failed tests: cart total · cart tax · invoice total',
        'Grouped: 3 tests, because each says “expected 10.20, got 10.21”.',
        '[ Open ] [ Right ] [ Wrong… ]',
      ].join('\n'),
    );
    expect(message.text).toBe('main is red: The cart total is rounded twice (Test failure, 91 %)');
    const [, buttons] = message.blocks;
    expect(buttons).toMatchObject({
      buttons: [
        { url: 'https://fl.example/analyses/ana_9f2c' },
        { value: 'ana_9f2c' },
        { value: 'ana_9f2c' },
      ],
    });
  });

  it('counts the failures of the day', () => {
    expect(formatMessage(createMessage(red(sampleAnalysis()), { seenToday: 3 }))).toContain(
      '\nseen 3× today',
    );
  });

  it('names the person who confirmed a known cause', () => {
    expect(formatMessage(createMessage(red(createRecalledAnalysis())))).toContain(
      '(Test failure, confirmed by grace on 2026-10-12, seen 14 times)',
    );
  });

  it('is yellow and asks for a review if the cause is uncertain', () => {
    const review = { id: 'rev_1', openedAt: '2026-10-12T14:02:00.000Z', decision: null };
    const message = createMessage(red(createUnsureAnalysis(), { review }));
    expect(formatMessage(message)).toMatch(
      /^:large_yellow_circle: \*main is red, cause not certain \(61 %\)\*\nPossibly: The cart/,
    );
    expect(formatMessage(message)).toContain('[ Open ] [ Decide ] [ Right ] [ Wrong… ]');
    expect(message.text).toBe('main is red, cause not certain (61 %)');
  });

  it.each([
    [
      { type: 'accept' },
      ':white_check_mark: confirmed by grace <!date^1791814140^{time}|14:09 UTC>',
      '(Test failure, confirmed)',
    ],
    [
      { type: 'correct', category: 'CONFIG_ERROR' },
      ':pencil2: corrected to Configuration by grace',
      '(Configuration, corrected)',
    ],
    [{ type: 'reject', reason: 'no' }, ':x: marked wrong by grace', '(Test failure, 91 %)'],
  ] as const)('shows the decision of a person: %j', (change, line, how) => {
    const message = createMessage(red(sampleAnalysis(), { review: createDecision(change) }));
    expect(formatMessage(message)).toContain(line);
    expect(formatMessage(message)).toContain(how);
    expect(formatMessage(message), 'nobody is asked again').not.toMatch(/Right|Wrong/);
  });

  it('lists each of several causes, and counts the rest', () => {
    const causes = Array.from({ length: 11 }, (_, index) =>
      sampleCause(sampleAnalysis({ id: `ana_${index}` }), { failures: 20 - index }),
    );
    const message = createMessage(createBranchSituation(sampleHead({ causes })));
    expect(message.text).toBe('main is red for 11 reasons');
    expect(formatMessage(message)).toContain('*8.* The cart total');
    expect(formatMessage(message)).toContain('… 3 more causes');
    expect(message.blocks.length).toBeLessThanOrEqual(50);
  });

  it('explains why a build could not be analyzed', () => {
    const job = { state: 'failed', error: 'the daily budget is used up' } as const;
    const message = createMessage(createBranchSituation(sampleHead({ causes: [], job })));
    expect(formatMessage(message)).toContain(':red_circle: *main is red*');
    expect(formatMessage(message)).toContain('Faultline: not analyzed, the daily budget is used up');
  });

  it('omits buttons without a target', () => {
    const facts = findSlackFacts(red(sampleAnalysis()));
    if (facts === null) throw new Error('there is something to say');
    expect(createSlackMessage(facts, STREAK, { publicUrl: null, decides: false }).blocks).toHaveLength(1);
  });
});

describe('no message is sent', () => {
  it.each([
    [
      'while it is looked at',
      createBranchSituation(sampleHead({ causes: [], job: { state: 'running', error: null } })),
    ],
    ['while a person is asked', createBranchSituation(sampleHead({ causes: [], question: openQuestion }))],
    [
      'of a build that has no branch',
      createBranchSituation(sampleHead({ build: sampleBuild({ branch: null }) })),
    ],
    [
      'of a branch that was never red',
      createBranchSituation(sampleHead({ build: sampleBuild({ status: 'passed' }), causes: [] })),
    ],
    [
      'of a build that was cancelled',
      createBranchSituation(sampleHead({ build: sampleBuild({ status: 'cancelled' }) })),
    ],
    ['where nothing is stored any more', createBranchSituation()],
  ])('%s', (_case, situation) => {
    expect(findSlackFacts(situation)).toBeNull();
  });
});

describe('the message about a fixed branch', () => {
  it('has the duration and the former cause', () => {
    const message = createMessage(createPassedSituation());
    expect(formatMessage(message)).toBe(
      ':large_green_circle: *main is green again after 41 min* (was: The cart total is rounded twice)\n[ Open ]',
    );
    expect(message.text).toBe('main is green again after 41 min (was: The cart total is rounded twice)');
  });

  it.each([
    ['2026-10-12T14:01:05.000Z', '1 min'],
    ['2026-10-12T16:06:00.000Z', '2 h 5 min'],
    ['2026-10-12T16:01:00.000Z', '2 h'],
    ['2026-10-15T14:01:00.000Z', '3 days'],
  ])('gives the duration of a failure that ends at %s as %s', (finishedAt, took) => {
    expect(createMessage(createPassedSituation({ finishedAt })).text).toContain(
      `green again after ${took} (`,
    );
  });
});

describe('hostile text', () => {
  const HOSTILE =
    '<!channel> <@U0123> *bold* `code` & <https://evil.example|Open> :tada: \u202e\u0000 www.evil.example';
  const { answer } = sampleAnalysis();
  const claims = [{ text: HOSTILE, evidence: [], quotes: [{ source: 'build.log', line: 1, text: HOSTILE }] }];
  const analysis = sampleAnalysis({
    evidence: [],
    answer: { ...answer, title: HOSTILE, fixRecommendation: HOSTILE, claims },
  });
  const situation = createBranchSituation(
    sampleHead({
      build: sampleBuild({
        branch: `main${HOSTILE}`,
        repository: HOSTILE,
        pipeline: HOSTILE,
        number: HOSTILE,
      }),
      causes: [sampleCause(analysis, { review: createDecision({ reviewer: HOSTILE }) })],
    }),
  );
  const message = createMessage(situation, { author: HOSTILE, commit: HOSTILE });

  it('creates no mention, link, format or hidden character', () => {
    const text = `${formatMessage(message)}\n${message.text}`;
    const ours = text.replaceAll(/<!date\^\d+\^\{time\}\|\d\d:\d\d UTC>/g, '');
    expect(ours).not.toMatch(/[<>](?! )/);
    expect(ours).toContain('&lt;!channel&gt; &lt;@U0123&gt;');
    expect(ours).not.toMatch(/\u202e|\u0000|`|\*bold|:tada:/);
    expect(ours).toContain('⟦U+202E⟧');
  });

  it('of any length stays within a section', () => {
    const long = sampleAnalysis({
      answer: { ...answer, title: '<'.repeat(9_000), fixRecommendation: '&'.repeat(9_000) },
    });
    for (const block of createMessage(red(long)).blocks)
      if ('text' in block) expect(block.text.length).toBeLessThanOrEqual(6_000);
  });
});
