import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { rankSuspects } from '../../src/judge/suspects.ts';
import { assess } from '../../src/judge/verify.ts';
import { createInsight, createSubject } from './subject.ts';

const LOG = [
  'java.lang.NullPointerException',
  '\tat shop.orders.Weights.total(Weights.java:36)',
  '\tat shop.orders.Cart.sum(Cart.java:20)',
  '\tat shop.orders.FlowTest.sums(FlowTest.java:12)',
  '\tat junit.framework.TestCase.runTest(TestCase.java:176)',
].join('\n');
const MAIN = 'src/main/java/shop/orders';
const GRACE = {
  commit: 'b'.repeat(40),
  author: 'Grace',
  at: '2026-01-04T10:00:00.000Z',
  subject: 'Weigh faster',
  pullRequest: 41,
};
const ADA = {
  commit: 'a'.repeat(40),
  author: 'Ada',
  at: '2024-01-01T00:00:00.000Z',
  subject: 'Begin',
  pullRequest: null,
};

let count = 50;
function createEvidence(tool: string, item: Partial<Evidence>): Evidence {
  count += 1;
  return { id: `E${count}`, tool, title: 'title', text: 'text', source: 'source', ...item };
}

function createChanges(...files: string[]): Evidence[] {
  const list = createEvidence('changed_since_green', {
    source: 'compare/a...b',
    data: { files, fileCount: files.length, truncated: false },
  });
  const patches = files.map((path) =>
    createEvidence('changed_since_green', { source: path, data: { path, lines: [[18, 22]], ...GRACE } }),
  );
  return [list, ...patches];
}

function blame(path: string, line: number, by: typeof GRACE | typeof ADA): Evidence {
  return createEvidence('read_blame', {
    source: path,
    lineStart: line - 1,
    lineEnd: line + 1,
    data: { path, line: line - 1, ...by },
  });
}

function listSuspects(evidence: readonly Evidence[], more: Partial<TriageSubject> = {}) {
  return rankSuspects({ ...createSubject(LOG), ...more }, evidence, 'CODE_ERROR');
}

describe('suspects with the repository available', () => {
  test('begin with the deepest own frame if nothing else is known', () => {
    expect(listSuspects([])[0]).toMatchObject({ path: 'shop/orders/Weights.java', commit: null });
  });

  test('place a caller whose lines changed since the last passed build before a deeper frame that did not change', () => {
    const [first, second] = listSuspects(createChanges(`${MAIN}/Cart.java`));

    expect(first).toMatchObject({
      path: `${MAIN}/Cart.java`,
      line: 20,
      commit: GRACE.commit,
      author: 'Grace',
      pullRequest: 41,
    });
    expect(first?.reason).toContain('these lines are part of this change');
    expect(second?.path).toBe('shop/orders/Weights.java');
  });

  test('include changed files that the log does not name, after its frames, but no documents', () => {
    const ranked = listSuspects(createChanges(`${MAIN}/Rates.java`, 'README.md', 'package-lock.json'));
    const rates = ranked.find(({ path }) => path.endsWith('Rates.java'));

    expect(rates).toMatchObject({ line: 18, commit: GRACE.commit, reason: 'part of this change' });
    expect(ranked.map(({ path }) => path)).not.toContain('README.md');
    expect(ranked[0]?.path).toBe('shop/orders/Weights.java');
  });

  test('name the commit of the named line, and a recent one raises its file', () => {
    const at = (by: typeof GRACE | typeof ADA) =>
      listSuspects([blame(`${MAIN}/Cart.java`, 20, by)]).find(({ path }) => path.endsWith('/Cart.java'));

    expect(at(GRACE)).toMatchObject({
      path: `${MAIN}/Cart.java`,
      commit: GRACE.commit,
      author: 'Grace',
      pullRequest: 41,
    });
    expect(at(ADA)).toMatchObject({ commit: ADA.commit, author: 'Ada' });
    expect(at(GRACE)?.score).toBeGreaterThan(at(ADA)?.score ?? 1);
  });

  test('place a file higher that was changed when the same failure was fixed before', () => {
    const files = [`${MAIN}/Cart.java`];
    const mended = listSuspects([
      createEvidence('read_past_fixes', { source: 'compare/c...d', data: { files, fileCount: 1 } }),
    ]);
    const cart = (list: typeof mended) => list.find(({ path }) => path.endsWith('/Cart.java'));

    expect(cart(mended)?.score).toBeGreaterThan(cart(listSuspects([]))?.score ?? 1);
    expect(cart(mended)?.reason).toContain('fixed before');
    expect(cart(mended)?.commit).toBeNull();
  });

  test("place a file higher that a person's earlier fix names", () => {
    const data = {
      category: 'CODE_ERROR',
      confirmedBy: 'Ada',
      fixRecommendation: 'Check for null in orders/Cart.java.',
    };
    const named = listSuspects([
      createEvidence('search_error_library', { source: 'error-library/x', score: 0.9, data }),
    ]);
    expect(named.find(({ path }) => path.endsWith('/Cart.java'))?.reason).toContain('fixed before');
  });

  test('state in the answer who changed the first one, with evidence', () => {
    const evidence = createChanges(`${MAIN}/Cart.java`);
    const insight = createInsight(LOG);
    const { claims } = composeAnswer({ ...insight, evidence: [...insight.evidence, ...evidence] });

    const claim = claims.find(({ text }) => text.includes('part of this change'));
    expect(claim).toMatchObject({
      text: `${MAIN}/Cart.java is part of this change: bbbbbbbbbb, Grace, #41.`,
      evidence: [evidence[1]?.id],
    });
  });

  test.each([
    ['a string of numbers', { path: 7, commit: [], lines: 'x', files: { a: 1 }, fileCount: 'many' }],
    ['nothing', {}],
  ])('are found without errors from malformed data: %s', (_name, data) => {
    const odd = ['changed_since_green', 'read_blame', 'read_commit_history', 'read_past_fixes'].map((tool) =>
      createEvidence(tool, { data }),
    );
    expect(listSuspects(odd).map(({ path }) => path)).toContain('shop/orders/Weights.java');
  });
});

describe('a commit that removed something', () => {
  const guard = [
    '@@ -34,8 +34,5 @@',
    ' int total() {',
    '-  if (weights == null) {',
    '-    return 0;',
    '-  }',
    '   return weights.size();',
    ' }',
  ];
  const since = (
    file: string,
    patch: readonly string[],
    by: typeof GRACE | typeof ADA,
    more: Record<string, unknown> = {},
  ) =>
    createEvidence('changed_since_green', {
      source: file,
      text: patch.join('\n'),
      data: { path: file, lines: [[35, 35]], ...by, ...more },
    });
  const list = (...files: string[]) =>
    createEvidence('changed_since_green', {
      source: 'compare/a...b',
      data: { files, fileCount: files.length, truncated: false },
    });
  const WEIGHTS_FILE = `${MAIN}/Weights.java`;
  const answerWith = (evidence: readonly Evidence[]) => {
    const insight = createInsight(LOG);
    return composeAnswer({ ...insight, evidence: [...insight.evidence, ...evidence] });
  };

  test('ranks above one that changed adjacent lines, and above the author of the remaining lines', () => {
    const comment = ['@@ -35,1 +35,2 @@', '+  // The sum.', '   return weights.size();'];
    const other = { ...ADA, commit: 'd'.repeat(40), author: 'Dora' };
    const evidence = [
      list(WEIGHTS_FILE),
      since(WEIGHTS_FILE, comment, other),
      since(WEIGHTS_FILE, guard, GRACE),
      blame(WEIGHTS_FILE, 36, ADA),
    ];
    expect(listSuspects(evidence)[0]).toMatchObject({
      path: WEIGHTS_FILE,
      commit: GRACE.commit,
      author: 'Grace',
    });
  });

  test('ranks above the author of the remaining lines if only blame is known', () => {
    const range = { source: WEIGHTS_FILE, lineStart: 33, lineEnd: 39 };
    const removal = createEvidence('read_blame', {
      ...range,
      text: guard.join('\n'),
      data: { path: WEIGHTS_FILE, removes: true, ...GRACE },
    });
    expect(listSuspects([blame(WEIGHTS_FILE, 36, ADA), removal])[0]).toMatchObject({ commit: GRACE.commit });
  });

  test('is named in the cause with what it removed, and the fix is to restore it', () => {
    const evidence = [list(WEIGHTS_FILE), since(WEIGHTS_FILE, guard, GRACE)];
    const { rootCause, fixRecommendation, act, claims } = answerWith(evidence);
    const removed =
      'removed the check `if (weights == null) {` from src/main/java/shop/orders/Weights.java:35.';
    expect(rootCause).toContain(`Commit bbbbbbbbbb (Grace) ${removed}`);
    expect(fixRecommendation).toBe(
      'Restore the check `if (weights == null) {` in src/main/java/shop/orders/Weights.java:35. Commit bbbbbbbbbb (Grace) removed it.',
    );
    expect(act).toBe('code');
    const claim = claims.find(({ text }) => text.includes('removed the check'));
    expect(claim?.evidence).toEqual([evidence[1]?.id]);
  });

  test.each([
    ['default', '-  int n = options.getOrDefault("size", 3);', '+  int n = options.get("size");'],
    ['condition', '-  while (left > 0 && next != null) {', '+  while (left > 0) {'],
  ])('may have removed a %s', (what, removed, added) => {
    const patch = ['@@ -35,2 +35,2 @@', removed, added, '   return weights.size();'];
    expect(answerWith([list(WEIGHTS_FILE), since(WEIGHTS_FILE, patch, GRACE)]).fixRecommendation).toContain(
      `Restore the ${what} \``,
    );
  });

  test.each([
    ['a check in another form', ['-  if (weights == null) return 0;', '+  if (weights == null) return 1;']],
    ['a comment', ['-  // if (weights == null) return 0;']],
  ])('is not said to have removed %s', (_what, lines) => {
    const patch = ['@@ -35,2 +35,2 @@', ...lines, '   return weights.size();'];
    const { fixRecommendation } = answerWith([list(WEIGHTS_FILE), since(WEIGHTS_FILE, patch, GRACE)]);
    expect(fixRecommendation).not.toContain('Restore the');
  });

  test('is quoted with the replacement of a line, and the fix names both', () => {
    const patch = [
      '@@ -35,2 +35,2 @@',
      '-  while (i < n) {',
      '+  while (i <= n) {',
      '   return weights.size();',
    ];
    const { rootCause, fixRecommendation } = answerWith([
      list(WEIGHTS_FILE),
      since(WEIGHTS_FILE, patch, GRACE),
    ]);
    const place = `in ${WEIGHTS_FILE}:35`;
    expect(rootCause).toContain(
      `Commit bbbbbbbbbb (Grace) changed \`while (i < n) {\` to \`while (i <= n) {\` ${place}.`,
    );
    expect(fixRecommendation).toBe(
      `Restore \`while (i < n) {\` ${place}, or correct \`while (i <= n) {\`. Commit bbbbbbbbbb (Grace) changed it.`,
    );
  });

  test('ranks above the author of the line, by blame alone, unless that line is newer', () => {
    const patch = [
      '@@ -35,2 +35,2 @@',
      '-  while (i < n) {',
      '+  while (i <= n) {',
      '   return weights.size();',
    ];
    const changedBy = (by: typeof GRACE | typeof ADA) =>
      createEvidence('read_blame', {
        source: WEIGHTS_FILE,
        text: patch.join('\n'),
        data: { path: WEIGHTS_FILE, lines: [[35, 35]], ...by },
      });
    const at36 = (by: typeof GRACE | typeof ADA) =>
      createEvidence('read_blame', { ...blame(WEIGHTS_FILE, 36, by), lineStart: 36, lineEnd: 36 });
    expect(listSuspects([at36(ADA), changedBy(GRACE)])[0]).toMatchObject({ commit: GRACE.commit });
    expect(listSuspects([at36(GRACE), changedBy(ADA)])[0]).toMatchObject({ commit: GRACE.commit });
  });

  test('is not one that only formatted the line, wherever its patch comes from', () => {
    const patch = ['@@ -36,1 +36,1 @@', '-  return weights.size();', '+  return weights.size( ); // All.'];
    const formatted = [list(WEIGHTS_FILE), since(WEIGHTS_FILE, patch, GRACE), blame(WEIGHTS_FILE, 36, GRACE)];
    const [suspect] = listSuspects(formatted);
    expect(suspect).toMatchObject({ path: WEIGHTS_FILE, commit: null, author: null });
    expect(suspect?.score).toBeLessThan(listSuspects([])[0]?.score ?? 0);
    const [plain, answer] = [answerWith([]), answerWith(formatted)];
    expect(answer.rootCause).toBe(plain.rootCause);
    expect(answer.confidence).toBe(plain.confidence);
  });

  test('ranks above the line that still uses the removed name', () => {
    const stillUsed = [{ name: 'total', path: WEIGHTS_FILE, line: 36 }];
    const patch = ['@@ -3,1 +3,1 @@', '-  int total;', '+  int sum;'];
    const evidence = [list(`${MAIN}/Sums.java`), since(`${MAIN}/Sums.java`, patch, GRACE, { stillUsed })];
    expect(listSuspects(evidence)[0]).toMatchObject({ path: `${MAIN}/Sums.java`, commit: GRACE.commit });
    const { rootCause, fixRecommendation } = answerWith(evidence);
    expect(rootCause).toContain(
      `took \`total\` out of ${MAIN}/Sums.java, but ${WEIGHTS_FILE}:36 still uses it.`,
    );
    expect(fixRecommendation).toContain(`Restore \`total\` in ${MAIN}/Sums.java`);
  });
});

describe('the statement that the failure is not from your change', () => {
  const subject = () => {
    const base = createSubject(LOG);
    const build = {
      ...base.build,
      repository: 'shop/api',
      branch: 'topic',
      commit: 'c0ffee',
      receivedAt: '2026-01-05T10:00:00.000Z',
    };
    return { ...base, build };
  };
  const row = (over: Record<string, unknown> = {}, tool = 'read_failure_history') => {
    const { fingerprint, build } = subject();
    const known = {
      repository: build.repository,
      pipeline: 'ci',
      number: '810',
      branch: 'main',
      commit: 'beef',
      buildId: 'bld_other',
    };
    return createEvidence(tool, {
      data: { ...known, fingerprint: fingerprint.value, seenAt: '2026-01-04T10:00:00.000Z', ...over },
    });
  };
  const said = (evidence: readonly Evidence[], more: Partial<TriageSubject> = {}) => {
    const insight = createInsight(LOG);
    const answer = composeAnswer({
      ...insight,
      subject: { ...subject(), ...more },
      evidence: [...insight.evidence, ...evidence],
    });
    return answer.claims.find(({ text }) => text.startsWith('The same failure was seen before'));
  };

  test('names the build in which the same failure occurred on a shared branch', () => {
    const evidence = row();
    expect(said([evidence])).toEqual({
      text: 'The same failure was seen before in ci #810 on main (2026-01-04).',
      evidence: [evidence.id],
      quotes: [],
    });
  });

  test('is not made without evidence, and then lowers no confidence', () => {
    const alone = createInsight(LOG);
    const insight = { ...alone, subject: subject(), evidence: [...alone.evidence, row()] };
    const verdict = assess({ ...insight, answer: composeAnswer(insight) });
    expect(verdict.unsupportedClaims).toEqual([]);
    expect(verdict.confidence).toBe(assess({ ...alone, answer: composeAnswer(alone) }).confidence);
  });

  test('is made if two other branches had the failure, but with one it is only mentioned', () => {
    const one = row({ branch: 'fix/a' });
    const two = row({ branch: 'fix/b', number: '811', buildId: 'bld_2' }, 'find_similar_failures');
    expect(said([one, two])?.text).toBe(
      'The same failure was seen before in ci #810 on fix/a (2026-01-04) and ci #811 on fix/b (2026-01-04).',
    );
    expect(said([one])?.text).toBe('The same failure was seen before in ci #810 on fix/a (2026-01-04).');
  });

  test('is made on a shared branch if another commit had the failure before', () => {
    const onMain = { ...subject(), build: { ...subject().build, branch: 'main' } };
    expect(said([row()], onMain)?.text).toContain('ci #810 on main');
    expect(said([row({ commit: 'c0ffee' })], onMain)).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>]>([
    ['only this branch had it', { branch: 'topic' }],
    ['it was another failure', { fingerprint: 'other' }],
    ['it was another repository', { repository: 'shop/web' }],
    ['it came later', { seenAt: '2026-01-06T10:00:00.000Z' }],
    ['it was the same commit', { commit: 'c0ffee' }],
    ['the branch is not known', { branch: null }],
  ])('is not made if %s', (_why, over) => {
    expect(said([row(over)])).toBeUndefined();
  });

  test('is not made for a generic failure, or if the build names no branch', () => {
    expect(said([row()], { generic: true })).toBeUndefined();
    expect(said([row()], { build: { ...subject().build, branch: null } })).toBeUndefined();
  });

  test('lowers the score of the changes in this build', () => {
    const evidence = createChanges(`${MAIN}/Cart.java`);
    const score = (more: Evidence[]) =>
      rankSuspects(subject(), [...evidence, ...more], 'CODE_ERROR').find(({ path }) =>
        path.endsWith('/Cart.java'),
      )?.score ?? 0;
    expect(score([row()])).toBeLessThan(score([]));
  });
});
