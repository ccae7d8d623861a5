import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { KEYS, readKeys } from '../../src/cli/review/keys.ts';
import {
  type Item,
  type ReviewClient,
  runReviewSession,
  type SessionDone,
} from '../../src/cli/review/session.ts';
import { CATEGORIES } from '../../src/domain/category.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { DecisionInput, Review } from '../../src/domain/review.ts';
import { createUnsureAnalysis, sampleBuild, sampleReview } from '../support/sample-analysis.ts';

interface Queue {
  readonly client: ReviewClient;
  readonly decided: { readonly id: string; readonly decision: DecisionInput }[];
  readonly released: string[];
}

/** A queue in memory of so many items. */
function createQueue(count: number, change: Partial<Item> = {}): Queue {
  const reviews = Array.from({ length: count }, (_, index) =>
    sampleReview({ id: `rev_${index + 1}`, title: `Item ${index + 1}` }),
  );
  const gone = new Set<string>();
  const [decided, released]: [Queue['decided'], string[]] = [[], []];
  const of = (id: string): Review => reviews.find((review) => review.id === id) ?? sampleReview({ id });
  const client: ReviewClient = {
    counts: async () => ({
      waiting: count - gone.size,
      mine: 0,
      decidedToday: decided.length,
      agreedToday: decided.length,
    }),
    next: async () => reviews.find(({ id }) => !gone.has(id)) ?? null,
    claim: async (id) => of(id),
    ofAnalysis: async () => of('rev_1'),
    read: async (id) => ({
      review: of(id),
      analysis: createUnsureAnalysis(),
      whose: null,
      build: sampleBuild(),
      ...change,
    }),
    decide: async ({ id }, decision) => {
      gone.add(id);
      decided.push({ id, decision });
      return 'It is in the library now.';
    },
    skip: async (id) => void gone.add(id),
    release: async (id) => void released.push(id),
    undoLast: async () => {
      const last = decided.pop();
      if (last === undefined) return null;
      gone.delete(last.id);
      return of(last.id);
    },
  };
  return { client, decided, released };
}

/** Types each key once the session waits for it: after an output in which `until` stands. */
async function runSession(
  queue: Queue,
  steps: readonly (readonly [until: RegExp, keys: string])[],
  repeatMs = 0,
): Promise<SessionDone & { said: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const keys = readKeys({ input, output, repeatMs });
  let said = '';
  let seen = 0;
  let at = 0;
  const look = () => {
    const step = steps[at];
    if (step === undefined || !step[0].test(said.slice(seen))) return;
    seen = said.length;
    at += 1;
    // A terminal hands keys on when nothing else is to be done.
    setTimeout(() => input.write(step[1]), 5);
  };
  const hear = (text: string) => {
    said += text;
    look();
  };
  output.on('data', (chunk) => hear(String(chunk)));
  const done = await runReviewSession({
    client: queue.client,
    keys,
    write: hear,
    look: { color: false, width: 80 },
  });
  keys.close();
  return { ...done, said };
}

const SHOWN = /q quit\n$/;

describe('faultline review in a terminal', () => {
  it('shows verdict, cause, fix, evidence with line numbers, suspects and the reason for the review', async () => {
    const { said } = await runSession(createQueue(1), [[SHOWN, 'q']]);
    for (const part of [
      'Needs review: Test failure',
      'The new tax step',
      'Fix        Round once',
      '288501  expected 10.20',
      'Suspect    src/cart/tax.ts:41',
      'Reason     one claim',
    ])
      expect(said).toContain(part);
  });

  it('accepts with one key and shows the next item', async () => {
    const queue = createQueue(2);
    const done = await runSession(queue, [
      [SHOWN, 'a'],
      [SHOWN, 'a'],
    ]);
    expect(queue.decided.map(({ id, decision }) => [id, decision.type])).toEqual([
      ['rev_1', 'accept'],
      ['rev_2', 'accept'],
    ]);
    expect(done.decided).toBe(2);
    expect(done.said).toContain('The queue is empty. 2 decided today, 100 % agreed with Faultline.');
  });

  it('rejects with two keys', async () => {
    const queue = createQueue(1);
    await runSession(queue, [
      [SHOWN, 'x'],
      [/4 Cannot tell/, '1'],
    ]);
    expect(queue.decided).toMatchObject([
      { decision: { type: 'reject', reasonCode: 'evidence_does_not_support' } },
    ]);
  });

  it('cancels a correction with Esc, even within a line', async () => {
    const queue = createQueue(1);
    const { said } = await runSession(queue, [
      [SHOWN, 'c'],
      [/5 Test failure/, '3'],
      [/Cause {5}.*0\.01\./s, '\u001b'],
      [SHOWN, 'q'],
    ]);
    expect(said).toContain('Nothing was decided.');
    expect(queue.decided).toEqual([]);
  });

  it('corrects the category by digit, the cause in an editor with the present text, and the evidence', async () => {
    const queue = createQueue(1);
    const steps = [
      [SHOWN, 'c'],
      [/5 Test failure/, '3'],
      [/Cause {5}.*0\.01\./s, ' Twice.\r'],
      [/Fix .*41`\./s, '\r'],
      [/Shown by.*E1/s, '\r'],
      [/Press y to send/, 'y'],
    ] as const;
    await runSession(queue, steps);
    expect(queue.decided).toMatchObject([
      {
        decision: {
          type: 'correct',
          category: CATEGORIES[2],
          rootCause: 'The new tax step rounds each line before summing; the total differs by 0.01. Twice.',
          shownBy: { evidence: ['E1'] },
        },
      },
    ]);
  });

  it('sends a correction only after y', async () => {
    const queue = createQueue(1);
    const steps = [
      [SHOWN, 'c'],
      [/5 Test failure/, '3'],
      [/0\.01\./, '\r'],
      [/41`\./, '\r'],
      [/Shown by.*E1/s, '\r'],
      [/Press y to send/, '\r'],
      [SHOWN, 'q'],
    ] as const;
    const { said } = await runSession(queue, steps);
    expect(queue.decided).toEqual([]);
    expect(said).toContain('Nothing was decided.');
  });

  it('skips, undoes, and releases the item on exit', async () => {
    const queue = createQueue(3);
    const done = await runSession(queue, [
      [SHOWN, 'a'],
      [SHOWN, 'u'],
      [/rev_1.*q quit\n$/s, 's'],
      [SHOWN, 'q'],
    ]);
    expect(queue.decided).toEqual([]);
    expect(done).toMatchObject({ decided: 1, skipped: 1, interrupted: false });
    expect(done.said).toContain('Undone: Item 1 is back in the queue.');
    expect(queue.released).toEqual(['rev_2', 'rev_2']);
  });

  it.each([
    ['Enter', '\r'],
    ['Space', ' '],
    ['Backspace', '\u007f'],
    ['Delete', '\u001b[3~'],
    ['an arrow', '\u001b[A'],
    ['a capital letter', 'A'],
  ])('decides nothing on %s', async (_name, key) => {
    const queue = createQueue(1);
    await runSession(queue, [
      [SHOWN, key],
      [SHOWN, 'q'],
    ]);
    expect(queue.decided).toEqual([]);
  });

  it('decides only one item if a key is held down', async () => {
    const queue = createQueue(3);
    const steps = [
      [SHOWN, 'a'],
      [SHOWN, 'aaaq'],
    ] as const;
    await runSession(queue, steps, 10_000);
    expect(queue.decided).toHaveLength(1);
  });

  it('requires a second press to accept an answer that exonerates a change to its own suspect', async () => {
    const excuse = {
      analysis: createUnsureAnalysis({ category: 'INFRA_ERROR' }),
      build: sampleBuild({ commit: 'a41f9c2d0000' }),
    };
    const once = createQueue(1, excuse);
    await runSession(once, [
      [SHOWN, 'a'],
      [/a again/, 'z'],
      [/Nothing was decided/, 'q'],
    ]);
    expect(once.decided).toEqual([]);
    const twice = createQueue(1, excuse);
    await runSession(twice, [
      [SHOWN, 'a'],
      [/a again/, 'a'],
    ]);
    expect(twice.decided).toHaveLength(1);
  });

  it('reports what could not be stored, keeps the item, and stores it later', async () => {
    const queue = createQueue(1);
    let away = true;
    const decide: ReviewClient['decide'] = async (review, decision) => {
      if (away) {
        away = false;
        throw new TriageError('upstream-failed', 'No Faultline answers.');
      }
      return await queue.client.decide(review, decision);
    };
    const { said } = await runSession({ ...queue, client: { ...queue.client, decide } }, [
      [SHOWN, 'a'],
      [/Not saved: No Faultline answers\./, 'a'],
    ]);
    expect(said).toContain('Accepted.');
    expect(queue.decided).toHaveLength(1);
  });

  it('releases the item after Ctrl-C', async () => {
    const queue = createQueue(1);
    expect(await runSession(queue, [[SHOWN, '\u0003']])).toMatchObject({ interrupted: true });
    expect(queue.released).toEqual(['rev_1']);
  });

  it('prints no terminal escapes', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J';
    const analysis = createUnsureAnalysis({
      answer: { ...createUnsureAnalysis().answer, title: evil, rootCause: evil },
    });
    const { said } = await runSession(
      createQueue(1, { analysis, review: sampleReview({ repository: evil, why: [evil] }) }),
      [[SHOWN, 'q']],
    );
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('lists every key in its help', async () => {
    const { said } = await runSession(createQueue(1), [
      [SHOWN, '?'],
      [/never decide/, 'q'],
    ]);
    for (const { key, does } of KEYS) expect(said).toContain(`  ${key}  ${does}`);
  });
});
