import type { Analysis, Step } from '../../src/domain/analysis.ts';
import type { Turn } from '../../src/domain/conversation.ts';
import { createId } from '../../src/domain/ids.ts';
import type { Review } from '../../src/domain/review.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import { withdrawEntry } from '../../src/service/review/undo.ts';
import {
  createFailingTest,
  sampleAnalysis,
  sampleBuild,
  sampleEntry,
  sampleGroup,
  sampleReview,
} from '../stores/samples.ts';
import type { StockedConsole } from './stocked-console.ts';

/**
 * The texts that have become an element, a link, a request, a mention or a comment's marker wherever escaping
 * was forgotten.
 */
const EVIL = [
  `"><x-evil data-evil onclick=boom()></x-evil><img src=x onerror=boom()><script>boom()</script><svg onload=boom()></svg>`,
  `</textarea></title></script><iframe src=https://evil.example></iframe><base href=https://evil.example>`,
  `" data-evil=" ' data-evil=' onmouseover='boom() \` onclick=boom() \u202e`,
  `![i](https://evil.example/i.png) [l](javascript:boom()) <https://evil.example> [E1](https://evil.example) javascript:boom()`,
  `<!-- faultline:v1 repo=a/b pr=1 --> --><!-- @everyone <!channel> &lt;img src=x&gt; &#60;b data-evil&#62; {{7*7}} %3Cimg%20data-evil%3E`,
].join(' ');

/** Returns the hostile text for one field. It begins with the field's name, by which it is found again. */
export function createHostileText(field: string): string {
  return `§${field}§ ${EVIL}`;
}

const KEPT =
  /^(?:.*[iI]d|.*Ids|category|kind|fingerprint|action|terminationReason|.*At|status|createdAt|name|at|url|tool)$/;

/**
 * Returns the same value, in which every string that is not one of our names is replaced by a hostile one.
 */
function poisonValue<Value>(value: Value, path: string): Value {
  if (typeof value === 'string') return createHostileText(path) as Value;
  if (Array.isArray(value)) return value.map((one) => poisonValue(one, path)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, inner]) => [
    name,
    KEPT.test(name) ? inner : poisonValue(inner, `${path}.${name}`),
  ]);
  return Object.fromEntries(fields) as Value;
}

const LOG = createHostileText('log-name').replaceAll('\u202e', '');

const STEP: Step = poisonValue<Step>(
  {
    node: 'reason',
    round: 1,
    startedAt: '2026-10-12T14:01:03.000Z',
    milliseconds: 900,
    summary: 's',
    by: 'llm',
    investigator: 'code',
    judgements: [
      {
        name: 'reason',
        by: 'llm',
        model: 'm',
        promptHash: 'p',
        milliseconds: 1,
        inputTokens: 1,
        outputTokens: 1,
        costUsd: 0,
        modelCalls: 1,
        note: 'n',
      },
    ],
    outcomes: [
      {
        call: { tool: 'read_file', args: { path: 'p', query: ['q'] }, why: 'w' },
        status: 'failed',
        summary: 's',
        milliseconds: 1,
        attempts: 2,
        answeredBy: 'search_code',
      },
    ],
  },
  'step',
);
export const HOSTILE_STEP = STEP;

/** Creates an analysis that is hostile in every field that a model, a log or a repository fills. */
function createHostileAnalysis(keys: { buildId: string; triageId: string; fingerprint: string }): Analysis {
  const plain = sampleAnalysis(keys);
  const lines = { source: 's', lineStart: 2, lineEnd: 3 };
  const analysis = poisonValue<Analysis>(
    {
      ...plain,
      answer: {
        ...plain.answer,
        claims: [{ text: 'c', evidence: [], quotes: [{ source: 's', line: 2, text: 'q' }] }],
        suspects: [{ path: 'p', line: 1, commit: 'c', author: 'a', score: 0.8, reason: 'r' }],
        hypotheses: [1, 2].map(() => ({ text: 't', category: 'CODE_ERROR', settledBy: 's' })),
      },
      verdict: {
        ...plain.verdict,
        grades: {},
        unsupportedClaims: ['u'],
        gaps: ['g'],
        reasons: ['r'],
        factors: [{ name: 'f', value: -1, because: 'b' }],
      },
      evidence: [
        { id: 'E1', tool: 'log', title: 't', text: 'x', ...lines },
        { id: 'E2', tool: 'web_search', title: 't', text: 'x', source: 's', url: 'javascript:boom()//' },
        {
          id: 'E3',
          tool: 'read_file',
          title: 't',
          text: 'x',
          source: 's',
          url: 'data:text/html,<script>boom()</script>',
          lineStart: 2,
          lineEnd: 3,
        },
      ],
      steps: [STEP],
      model: 'm',
      promptHashes: { reason: 'h' },
      notes: ['n'],
      recalled: null,
    },
    'analysis',
  );
  const [first, ...others] = analysis.evidence;
  // A page shows no sentence twice, so the claim needs words of its own.
  const own = Array.from({ length: 80 }, (_, index) => `heron${index}`).join(' ');
  const claims = analysis.answer.claims.map((claim) => ({
    ...claim,
    text: `${own} ${claim.text}`,
    evidence: ['E1', 'E2'],
  }));
  return {
    ...analysis,
    answer: { ...analysis.answer, claims },
    evidence: first === undefined ? others : [{ ...first, source: LOG }, ...others],
  };
}

async function storeHostile({ stores, app }: StockedConsole, number: string): Promise<Review> {
  const told = { pipeline: 'p', job: 'j', branch: 'b', commit: 'c', author: 'a', repository: 'r', number };
  const { build } = await stores.builds.upsert(
    sampleBuild({
      ...poisonValue(told, 'build'),
      externalId: `x${number}`,
      number: createHostileText(`build.number${number}`),
      url: 'javascript:boom()//',
    }),
  );
  const text = [
    createHostileText('log'),
    `\u001b[31m${createHostileText('log')}\u001b[0m`,
    `${createHostileText('log')}\r${createHostileText('log')}`,
    createHostileText('log'),
  ].join('\n');
  await app.archive.put(build.id, { name: LOG, kind: 'log', text, notes: [createHostileText('log.note')] });
  const fingerprint = `fp-hostile-${number}`;
  const test = poisonValue(
    { ...createFailingTest('t'), suite: 's', file: 'f', message: 'm', expected: 'e', actual: 'a' },
    'test',
  );
  const [group] = await stores.failures.saveGroups(build.id, [
    sampleGroup(build.id, fingerprint, {
      test: { ...test, name: createHostileText('test.name'), at: null },
      message: createHostileText('failure.message'),
      frames: [
        {
          file: createHostileText('frame.file'),
          line: 1,
          function: createHostileText('frame.function'),
          own: true,
        },
      ],
      excerpt: {
        source: LOG,
        lineStart: 1,
        lineEnd: 2,
        text: createHostileText('excerpt'),
        reason: createHostileText('excerpt.reason'),
        weight: 1,
      },
    }),
  ]);
  const triage = await stores.triages.open(build.id, fingerprint);
  const wanted = createHostileAnalysis({ buildId: build.id, triageId: triage.id, fingerprint });
  const { analysis } = await stores.analyses.insertOnce({
    ...wanted,
    failureIds: group?.failures.map(({ id }) => id) ?? [],
  });
  const review = {
    title: createHostileText('review.title'),
    why: [createHostileText('review.why')],
    repository: build.repository,
  };
  return await stores.reviews.open(sampleReview(analysis, review));
}

/** Fills the stores with hostile data. Returns every page that shows it. */
export async function stockHostile(
  console: StockedConsole,
): Promise<{ readonly pages: string[]; readonly item: Review; readonly next: Review }> {
  const { stores, app } = console;
  const [item, next, decided, rejected] = [
    await storeHostile(console, '1'),
    await storeHostile(console, '2'),
    await storeHostile(console, '3'),
    await storeHostile(console, '4'),
  ];
  const words = {
    rootCause: createHostileText('decision.rootCause'),
    fixRecommendation: createHostileText('decision.fix'),
  };
  const decide = async ({ id, version }: Review, input: Parameters<typeof decideReview>[1]['input']) =>
    await decideReview({ ...app, stores }, { reviewId: id, version, reviewer: 'anna', input });
  const { entry } = await decide(decided, { type: 'correct', category: 'CONFIG_ERROR', ...words });
  await decide(rejected, { type: 'reject', reason: createHostileText('decision.reason') });
  const taught = poisonValue(sampleEntry(decided.fingerprint), 'entry');
  const withdrawn = {
    ...taught,
    id: createId('lib'),
    fingerprint: { algorithm: 'message', version: 1, value: item.fingerprint },
    telling: [createHostileText('entry.telling')],
  };
  await stores.library.insert({
    ...withdrawn,
    repository: item.repository,
    confirmedBy: createHostileText('entry.confirmedBy'),
  });
  await withdrawEntry(
    { ...app, stores },
    {
      id: withdrawn.id,
      by: createHostileText('entry.withdrawnBy'),
      reason: createHostileText('entry.reason'),
    },
  );
  await stores.library.insert({
    ...withdrawn,
    id: createId('lib'),
    repository: item.repository,
    withdrawn: null,
  });
  const questions = await askHostile(console, [item, next]);
  const thread = await storeThread(console, item);
  await storeRule(console);
  const notificationRule = await storeNotificationRule(console);
  return {
    item,
    next,
    pages: listPages(
      [item, decided, rejected],
      [entry?.id ?? '', withdrawn.id],
      questions,
      thread,
      notificationRule,
    ),
  };
}

function listPages(
  [item, ...decided]: readonly Review[],
  entries: readonly string[],
  questions: readonly string[],
  thread: string,
  notificationRule: string,
): string[] {
  if (item === undefined) return [];
  const { id, analysisId, buildId, fingerprint } = item;
  const typed = encodeURIComponent(createHostileText('address'));
  const log = `/logs/${buildId}?file=${encodeURIComponent(LOG)}`;
  return [
    '/review',
    '/review?state=decided',
    '/review?state=mine',
    `/review?repo=${typed}`,
    `/review?why=${typed}`,
    `/review/${id}`,
    `/review/${id}?edit=1`,
    `/review/${id}?reject=1`,
    `/review/${id}?ts=1`,
    ...decided.map((one) => `/review/${one.id}`),
    ...questions.map((question) => `/review/${question}`),
    '/builds',
    `/builds?repo=${typed}`,
    `/builds/${buildId}`,
    `/analyses/${analysisId}`,
    `/runs/${analysisId}`,
    `/runs/${buildId}`,
    `/analyses/${analysisId}/ask`,
    `/analyses/${analysisId}/ask/${thread}`,
    log,
    `${log}&L=2-3#L2`,
    `${log}&q=${typed}`,
    `${log}&q=evil`,
    `${log}&view=full`,
    `/logs/${buildId}?file=${typed}`,
    '/library',
    '/library?show=withdrawn',
    ...entries.map((entry) => `/library/${entry}`),
    '/library/rules',
    '/library/rules/new',
    '/notifications',
    `/notifications/${notificationRule}`,
    `/library/rules/new?pattern=${typed}&sample=${typed}&rootCause=${typed}`,
    ...['', '/trust', '/trust/outcomes', '/flaky', '/causes', '/cost', '/reviewers'].map(
      (part) => `/insights${part}`,
    ),
    `/insights?repo=${typed}`,
    `/failures/${fingerprint}`,
    `/failures/${typed}`,
    '/me',
    `/sign-in?next=${typed}`,
    `/nothing/${typed}`,
    `/review/${typed}`,
    `/builds/${typed}`,
    `/analyses/${typed}`,
  ];
}

async function askHostile({ stores }: StockedConsole, about: readonly Review[]): Promise<string[]> {
  const asked: string[] = [];
  for (const review of about) {
    const build = await stores.builds.find(review.buildId);
    if (build === null) throw new Error('no build');
    const other = await stores.builds.upsert({ ...build, externalId: null, number: `${build.number} asked` });
    const triage = await stores.triages.open(other.build.id, `fp-${createId('fal')}`);
    const texts = {
      title: createHostileText('question.title'),
      question: createHostileText('question.question'),
      category: 'INFRA_ERROR',
    } as const;
    const named = {
      triageId: triage.id,
      buildId: other.build.id,
      repository: build.repository,
      openedAt: new Date().toISOString(),
    };
    asked.push((await stores.questions.ask({ id: createId('rev'), ...named, ...texts }, 3_600_000)).id);
  }
  await stores.questions.answer(asked[0] ?? '', createHostileText('question.answer'), 'anna');
  return asked;
}

async function storeThread({ stores }: StockedConsole, { analysisId, buildId }: Review): Promise<string> {
  const threadId = createId('thr');
  const now = new Date().toISOString();
  const turn = poisonValue<Turn>(
    {
      threadId,
      position: 1,
      question: 'q',
      askedBy: 'a',
      askedAt: now,
      shape: 'explanation',
      about: 'a',
      text: 't',
      statements: [{ lead: '\n- ', text: 't', evidence: ['E1'], quotes: [], basis: 'evidence' }],
      citations: [
        { id: 'E1', title: 't', tool: 'log', source: 's', lineStart: 1, lineEnd: 2 },
        { id: 'E2', title: 't', tool: 'web_search', source: 's', url: 'javascript:boom()//' },
      ],
      leftOut: [{ text: 't', reason: 'r' }],
      evidence: [],
      steps: [STEP],
      analyst: 'llm',
      model: 'm',
      promptHashes: {},
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0, toolCalls: 0, iterations: 0 },
      notes: ['n'],
      milliseconds: 1,
    },
    'turn',
  );
  const statements = turn.statements.map((statement) => ({
    ...statement,
    lead: '\n- ',
    evidence: ['E1'],
    basis: 'evidence' as const,
  }));
  const thread = {
    id: threadId,
    analysisId,
    buildId,
    title: createHostileText('thread.title'),
    startedBy: createHostileText('thread.startedBy'),
  };
  await stores.conversations.append(
    { ...thread, startedAt: now, lastAskedAt: now, turns: 1 },
    { ...turn, shape: 'explanation', statements },
  );
  return threadId;
}

async function storeNotificationRule({
  stores: { notificationRules: rules },
}: StockedConsole): Promise<string> {
  const texts = {
    ...poisonValue({ query: 'q', destination: 'd', timeZone: 't' }, 'notificationRule'),
    name: createHostileText('notificationRule.name'),
  };
  const rule = {
    ...texts,
    channel: 'slack',
    byOwner: true,
    mention: true,
    everyMinutes: 5,
    digestHour: 9,
    quietFrom: 1,
    quietTo: 2,
    enabled: true,
  } as const;
  await rules.setOwner(
    {
      ...poisonValue({ owner: 'o', slack: 's', teams: 't', email: 'e' }, 'owner'),
      slackMention: null,
      teamsMention: null,
    },
    createHostileText('owner.by'),
  );
  return (await rules.add(rule, null, createHostileText('notificationRule.by')))?.id ?? '';
}

async function storeRule({ stores }: StockedConsole): Promise<void> {
  const texts = poisonValue(
    { pattern: 'p', sample: 's', rootCause: 'r', fixRecommendation: 'f', title: 't', author: 'a' },
    'rule',
  );
  const rule = {
    ...texts,
    pattern: texts.pattern.slice(0, 300),
    repository: null,
    category: 'INFRA_ERROR',
    kind: 'network',
    id: createId('rul'),
    version: 1,
  } as const;
  await stores.rules.add({
    ...rule,
    createdAt: new Date().toISOString(),
    timesUsed: 0,
    lastUsedAt: null,
    withdrawn: null,
  });
}
