import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCapturedParts } from '../support/composition/captured-parts.ts';
import { chooseJoins, type JoinKind } from '../support/composition/choose-joins.ts';
import { openJoinedRequests } from '../support/composition/joined-requests.ts';

/**
 * Each request to a model is about one failure: it has this failure's lines and what is shared, and none of a
 * failure in another step, stage or job, whatever the model looks up. Failures in one step are measured by
 * `scripts/bench joined`, because no mark in the log separates them.
 */
const APART: readonly JoinKind[] = [
  'several steps',
  'several stages',
  'several jobs',
  'several failures beside another',
];
const EVERY = 12;

const folder = mkdtempSync(joinPath(tmpdir(), 'faultline-joined-'));
let joined: Awaited<ReturnType<typeof openJoinedRequests>>;
beforeAll(async () => {
  joined = await openJoinedRequests(folder);
});
afterAll(async () => {
  await joined.close();
  rmSync(folder, { recursive: true, force: true });
});

const all = chooseJoins(readCapturedParts(), false);
const chosen = APART.flatMap((kind) =>
  all.filter((join) => join.kind === kind).filter((_, at) => at % EVERY === 0),
);

describe('requests about a failure of a build with several', () => {
  it.each(chosen.map((join) => [join.id, join] as const))(
    'have no line of another: %s',
    async (_id, join) => {
      const requests = await joined.ask(join);

      expect(new Set(requests.map(({ failure }) => failure)).size).toBeGreaterThan(1);
      expect(requests.filter(({ foreign }) => foreign.length > 0)).toEqual([]);
    },
  );
});
