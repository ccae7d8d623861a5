import { z } from 'zod';
import { KINDS } from '../domain/category.ts';
import { CATEGORY_WORDS, nameKind } from '../domain/category-words.ts';
import { TriageError } from '../domain/errors.ts';
import { type Rule, RuleInput } from '../domain/library.ts';
import { requireReviewer } from '../service/review/queue.ts';
import { createRule, type RuleTrial, restoreRule, tryRule, withdrawRule } from '../service/review/rules.ts';
import { buildAddress, search } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, postForm, renderOptions, renderTime, renderUndo } from './controls.ts';
import { type Html, html } from './html.ts';
import { libraryTop } from './library-lists.ts';
import { type CsvColumns, readWhole, renderCsvLink, sendCsv, toCsvTable } from './lists-as-csv.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { banner, renderCategory } from './parts/marks.ts';
import { CATEGORY_KEYS } from './review/item-page.ts';

const MANY = 200;
const SAID = {
  stored: 'Saved. It answers the next failure that matches.',
  withdrawn: 'Withdrawn. It is no longer used.',
  restored: 'Undone. It is used again.',
} as const;
const ListQuery = z.object({
  done: z.enum(['stored', 'withdrawn', 'restored']).optional().catch(undefined),
  /** The rule that was just withdrawn. */
  id: z.string().min(1).max(100).optional().catch(undefined),
  csv: z.literal('1').optional().catch(undefined),
  withdrawn: z.literal('1').optional().catch(undefined),
});

const text = (most: number) => z.string().max(most).default('');
/** The fields of the form for a rule. Problems with them are shown on the form. */
const RuleForm = z.object({
  pattern: text(1000),
  sample: text(10_000),
  repository: text(300),
  category: text(40),
  kind: text(40),
  rootCause: text(10_000),
  fixRecommendation: text(10_000),
  act: z.enum(['try', 'store']).default('try'),
});
type RuleForm = z.infer<typeof RuleForm>;

/** Registers `/library/rules`, the patterns that reviewers wrote. Each is tested before it is stored. */
export function registerRulePages(app: ConsoleApp, deps: ConsoleDeps): void {
  const frame = { title: 'Rules', part: 'library' } as const;
  app.get('/library/rules', route('review', { querystring: ListQuery }), async (request, reply) => {
    const { done, id, withdrawn, csv } = request.query;
    const filter = { withdrawn: withdrawn === '1' };
    if (csv !== undefined) {
      const all = await readWhole((page) => deps.stores.rules.list(page, filter));
      return sendCsv(reply, 'rules', toCsvTable(CSV_COLUMNS, all));
    }
    const rules = await deps.stores.rules.list({ limit: MANY, offset: 0 }, filter);
    const main = rulesMain(rules, withdrawn === '1');
    const undo =
      done === 'withdrawn' && id !== undefined
        ? renderUndo(`/library/rules/${encodeURIComponent(id)}/restore`)
        : undefined;
    const page = { ...frame, top: libraryTop(null), main, ...(done && { said: SAID[done], undo }) };
    return answerPage(request, reply, deps, page);
  });
  app.get('/library/rules/new', route('review', { querystring: RuleForm }), async (request, reply) => {
    const main = ruleFormMain(request.query, { failure: null, trial: null });
    return answerPage(request, reply, deps, { ...frame, title: 'New rule', top: NEW_TOP, main });
  });
  app.post('/library/rules', route('review', { body: RuleForm }), async (request, reply) => {
    const outcome = await actOn(deps, request.body, requireReviewer(request));
    if (outcome === 'stored') return reply.redirect('/library/rules?done=stored', 303);
    const message = outcome.failure === null ? {} : { said: 'Not saved.' };
    const page = {
      ...frame,
      title: 'New rule',
      top: NEW_TOP,
      main: ruleFormMain(request.body, outcome),
      ...message,
    };
    return answerPage(request, reply, deps, page, outcome.failure === null ? 200 : 400);
  });
  const Reason = z.object({ reason: z.string().trim().min(1).max(1000) });
  const Params = z.object({ id: z.string().min(1).max(100) });
  app.post(
    '/library/rules/:id/withdraw',
    route('review', { params: Params, body: Reason }),
    async (request, reply) => {
      await withdrawRule(deps, {
        id: request.params.id,
        by: requireReviewer(request),
        reason: request.body.reason,
      });
      return reply.redirect(`/library/rules${search({ done: 'withdrawn', id: request.params.id })}`, 303);
    },
  );
  app.post('/library/rules/:id/restore', route('review', { params: Params }), async (request, reply) => {
    await restoreRule(deps, { id: request.params.id, by: requireReviewer(request) });
    return reply.redirect('/library/rules?done=restored', 303);
  });
}

async function actOn(
  deps: ConsoleDeps,
  { act, ...fields }: RuleForm,
  reviewer: string,
): Promise<RuleOutcome | 'stored'> {
  const parsed = RuleInput.safeParse(toRuleInput(fields));
  if (!parsed.success) return { failure: describeIssue(parsed.error), trial: null };
  try {
    if (act === 'store') {
      await createRule(deps, parsed.data, reviewer);
      return 'stored';
    }
    const trial = await tryRule(deps, parsed.data);
    return { failure: trial.refused, trial: trial.refused === null ? trial : null };
  } catch (error) {
    if (!(error instanceof TriageError) || (error.code !== 'invalid-input' && error.code !== 'forbidden'))
      throw error;
    return { failure: error.message, trial: null };
  }
}

function toRuleInput({ repository, kind, sample, ...rest }: RuleFields) {
  return {
    ...rest,
    sample: sample.replaceAll('\r\n', '\n'),
    repository: repository.trim() || null,
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

function describeIssue({ issues }: z.ZodError): string {
  const [first] = issues;
  const field = String(first?.path[0] ?? '');
  return `${NAMES[field] ?? field} is invalid: ${first?.message ?? 'unknown'}.`;
}

/** The result of a rule that was not stored. */
interface RuleOutcome {
  readonly failure: string | null;
  readonly trial: RuleTrial | null;
}

/** The fields as typed. */
type RuleFields = { readonly [Field in keyof RuleInput]: string };

const LISTED = 20;
const NEW_TOP = crumbs([html`<a href="/library">Library</a>`, html`<a href="/library/rules">Rules</a>`]);

/**
 * Renders the form for a new rule. The rule is tested first: on its sample, on passing builds and on the
 * latest failures.
 */
function ruleFormMain(fields: RuleFields, { failure, trial }: RuleOutcome): Html {
  const { pattern, sample, repository, category, kind, rootCause, fixRecommendation } = fields;
  const kinds = KINDS.filter((name) => name !== 'unknown').map((name) => [name, nameKind(name)] as const);
  return html`<div class="item"><h1 tabindex="-1">New rule</h1>
    ${failure !== null && banner(html`<strong>Refused.</strong> ${failure}`, { tone: 'red', id: 'failure' })}
    ${trial !== null && trialPart(trial)}
    <div class="panel pad"><form method="post"
    action="/library/rules"${failure !== null && html` aria-describedby="failure"`}>
    <p><label for="pattern">Pattern (RE2 syntax, no
    backtracking)</label><br><input id="pattern" name="pattern" class="mono" required minlength="4"
    maxlength="300" value="${pattern}" placeholder="registry \\S+ answered 5\\d\\d"></p>
    <p><label for="sample">Sample log lines that it must
    match</label><textarea id="sample" name="sample" class="mono" required
    maxlength="4000">${sample}</textarea></p>
    <p class="choices"><label>Category
    <select name="category">${renderOptions(
      CATEGORY_KEYS.map((name) => [name, CATEGORY_WORDS[name]] as const),
      category,
    )}</select></label>
    <label>Kind <select name="kind">${renderOptions([['', 'unknown'], ...kinds], kind)}</select></label>
    <label>Repository <input name="repository" value="${repository}" placeholder="every repository"></label>
    </p>
    <p><label for="rootCause">Root cause</label><textarea id="rootCause" name="rootCause" class="short"
    required maxlength="4000">${rootCause}</textarea></p>
    <p><label for="fix">What to do</label><textarea id="fix" name="fixRecommendation" class="short" required
    maxlength="4000">${fixRecommendation}</textarea></p>
    <p class="acts"><button class="main" name="act" value="try">Test</button>
    <button name="act" value="store">Save</button>
    <a class="btn" href="/library/rules">Cancel</a></p></form></div></div>`;
}

function trialPart({ line, matches, tried }: RuleTrial): Html {
  const rows = matches.slice(0, LISTED).map(
    ({ failure, repository, pipeline, number, category, seenAt }) =>
      html`<li><a href="${buildAddress(failure.buildId)}">${repository} ${pipeline} #${number}</a>
          ${category !== null && html`was ${renderCategory(category)}`}
        <span class="quiet">${failure.message.slice(0, 160)} · ${renderTime(seenAt)}</span></li>`,
  );
  return html`<div class="banner green"><p><strong>The rule can be saved.</strong>
    It matches this line of the sample:</p><pre tabindex="0">${line}</pre>
    <p>It matches ${matches.length} of the ${tried}
    latest failures and no green build.${
      matches.length === 0 &&
      html` <strong class="is-amber">No stored failure has this line: check that the sample is copied from a
        log.</strong>`
    }</p>
    ${rows.length > 0 && html`<ul class="past">${rows}</ul>`}</div>`;
}

/** Renders the rules of reviewers, newest first. */
function rulesMain(rules: readonly Rule[], withWithdrawn: boolean): Html {
  const create = html`<a class="btn main" href="/library/rules/new">New rule</a>`;
  const withdrawn = html`<a class="btn" href="/library/rules${withWithdrawn ? '' : '?withdrawn=1'}">${
    withWithdrawn ? 'Hide withdrawn rules' : 'Show withdrawn rules'
  }</a>`;
  if (rules.length === 0)
    return html`<div class="empty"><h2>Answer a known line yourself</h2><p>A rule names a line of the log,
      such as “disk quota exceeded on build-7”, and what to say and do when it appears. Every later failure
      with that line gets your answer, and no model is asked.</p>
      <p class="acts">${create}${!withWithdrawn && withdrawn}</p></div>`;
  return html`<p class="quiet">A rule answers every failure whose log has its line, unless a person decided
    that failure.</p>
    <p class="acts">${create}${withdrawn}</p>
    ${rules.map(ruleCard)}${renderCsvLink(
      `/library/rules${search({ withdrawn: withWithdrawn ? 1 : undefined, csv: 1 })}`,
    )}`;
}

const CSV_COLUMNS: CsvColumns<Rule> = {
  title: (rule) => rule.title,
  repository: (rule) => rule.repository,
  category: (rule) => rule.category,
  kind: (rule) => rule.kind,
  pattern: (rule) => rule.pattern,
  author: (rule) => rule.author,
  created_at: (rule) => rule.createdAt,
  version: (rule) => rule.version,
  times_used: (rule) => rule.timesUsed,
  withdrawn_at: (rule) => rule.withdrawn?.at ?? null,
  id: (rule) => rule.id,
};

function ruleCard({ id, version, repository, author, createdAt, withdrawn, ...rule }: Rule): Html {
  const withdraw = postForm(
    `/library/rules/${encodeURIComponent(id)}/withdraw`,
    {},
    html`<p><label>Reason <input name="reason" required maxlength="1000"></label>
      <button>Withdraw</button></p>`,
  );
  return html`<section class="panel pad"><h2>${rule.title}</h2>
    <p>${renderCategory(rule.category)} · ${repository ?? 'every repository'} · by ${author},
    ${renderTime(createdAt)}${version > 1 && html` · version ${version}`} · answered ${rule.timesUsed}×</p>
    <pre tabindex="0">${rule.pattern}</pre><p>${rule.rootCause}</p>
    <p class="quiet">Fix: ${rule.fixRecommendation}</p>
    ${
      withdrawn === null
        ? html`<details><summary>Withdraw</summary>${withdraw}</details>`
        : html`<p><strong>Withdrawn</strong> by ${withdrawn.by}: ${withdrawn.reason}</p>`
    }</section>`;
}
