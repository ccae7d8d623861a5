import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { RuleInput } from '../../domain/library.ts';
import { reviewerOf } from '../../review/conflicts.ts';
import { createRule, tryRule, withdrawRule } from '../../review/rules.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { type RuleFields, type RuleOutcome, ruleFormMain } from './rule-form.ts';
import { rulesMain } from './rule-list.ts';

const access = { role: 'review' } as const;
const MANY = 200;
const SAID = { stored: 'Saved. It answers the next failure that matches.', withdrawn: 'Withdrawn. It is no longer used.' } as const;
const ListQuery = z.object({
  done: z.enum(['stored', 'withdrawn']).optional().catch(undefined),
  withdrawn: z.literal('1').optional().catch(undefined),
});

const text = (most: number) => z.string().max(most).default('');
/** A rule as its form sends it; what is wrong with it is said on the form. */
const RuleForm = z.object({
  ...{ pattern: text(1000), sample: text(10_000), repository: text(300), category: text(40), kind: text(40) },
  ...{ rootCause: text(10_000), fixRecommendation: text(10_000), act: z.enum(['try', 'store']).default('try') },
});
type RuleForm = z.infer<typeof RuleForm>;

/** `/library/rules`: patterns that reviewers wrote down, each tried before it is stored. */
export function registerRulePages(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const frame = { title: 'Rules', place: 'page', part: 'library' } as const;
  typed.get('/library/rules', { config: { access }, schema: { querystring: ListQuery } }, async (request, reply) => {
    const { done, withdrawn } = request.query;
    const rules = await deps.stores.rules.list({ limit: MANY, offset: 0 }, { withdrawn: withdrawn === '1' });
    const main = rulesMain(rules, withdrawn === '1');
    return sendPage(request, reply, { ...frame, main, ...(done && { said: SAID[done] }) }, await readerOf(request, deps));
  });
  typed.get('/library/rules/new', { config: { access }, schema: { querystring: RuleForm } }, async (request, reply) => {
    const main = ruleFormMain(request.query, { failure: null, trial: null });
    return sendPage(request, reply, { ...frame, title: 'New rule', main }, await readerOf(request, deps));
  });
  typed.post('/library/rules', { config: { access }, schema: { body: RuleForm } }, async (request, reply) => {
    const outcome = await actOn(deps, request.body, reviewerOf(request));
    if (outcome === 'stored') return reply.redirect('/library/rules?done=stored', 303);
    const said = outcome.failure === null ? {} : { said: 'Not saved.' };
    const page = { ...frame, title: 'New rule', main: ruleFormMain(request.body, outcome), ...said };
    return sendPage(request, reply, page, await readerOf(request, deps), outcome.failure === null ? 200 : 400);
  });
  const Reason = z.object({ reason: z.string().trim().min(1).max(1000) });
  const Params = z.object({ id: z.string().min(1).max(100) });
  typed.post('/library/rules/:id/withdraw', { config: { access }, schema: { params: Params, body: Reason } }, async (request, reply) => {
    await withdrawRule(deps, { id: request.params.id, by: reviewerOf(request), reason: request.body.reason });
    return reply.redirect('/library/rules?done=withdrawn', 303);
  });
}

async function actOn(deps: ConsoleDeps, { act, ...fields }: RuleForm, reviewer: string): Promise<RuleOutcome | 'stored'> {
  const parsed = RuleInput.safeParse(inputOf(fields));
  if (!parsed.success) return { failure: sentenceOf(parsed.error), trial: null };
  try {
    if (act === 'store') {
      await createRule(deps, parsed.data, reviewer);
      return 'stored';
    }
    const trial = await tryRule(deps, parsed.data);
    return { failure: trial.refused, trial: trial.refused === null ? trial : null };
  } catch (error) {
    if (!(error instanceof TriageError) || (error.code !== 'invalid-input' && error.code !== 'forbidden')) throw error;
    return { failure: error.message, trial: null };
  }
}

function inputOf({ repository, kind, sample, ...rest }: RuleFields) {
  return {
    ...rest,
    sample: sample.replaceAll('\r\n', '\n'),
    repository: repository.trim() === '' ? null : repository.trim(),
    ...(kind !== '' && { kind }),
  };
}

const NAMES: Readonly<Record<string, string>> = {
  rootCause: 'The root cause',
  fixRecommendation: 'What to do',
  sample: 'The sample',
  pattern: 'The pattern',
  category: 'The category',
};

function sentenceOf({ issues }: z.ZodError): string {
  const [first] = issues;
  const field = String(first?.path[0] ?? '');
  return `${NAMES[field] ?? field} is invalid: ${first?.message ?? 'unknown'}.`;
}
