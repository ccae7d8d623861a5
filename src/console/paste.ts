import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Analysis } from '../domain/analysis.ts';
import { isJudged } from '../domain/analysis.ts';
import { nameKind } from '../domain/category-words.ts';
import { TriageError } from '../domain/errors.ts';
import { formatCount } from '../lib/text.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import { USUAL_THRESHOLD } from '../service/answers/trust.ts';
import { listIds } from './answer/parts.ts';
import { sureFact } from './answer/sure.ts';
import { writeTexts } from './answer/texts.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs } from './controls.ts';
import { type Html, html, type Shown } from './html.ts';
import { type EvidenceWindows, renderEvidenceWindows } from './logs/evidence-windows.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';
import { icon } from './parts/icons.ts';
import { banner, renderCategory } from './parts/marks.ts';
import { inlineProse, prose } from './prose.ts';

/** The maximum length of a pasted log in characters, and of its form in bytes. */
const [MAX_LOG, MAX_FORM_BYTES] = [500_000, 4_000_000];
/** The time limit of an explanation, in milliseconds. */
const LIMIT_MS = 30_000;
/** The maximum number of causes that are explained for one log. */
const MAX_CAUSES = 5;

/** The folder of captured failures, which is part of the package. */
const FAILURES = join(import.meta.dirname, '../../test/fixtures/failures');
/** The samples that a reader may try, with their descriptions. */
const SAMPLES = {
  'cart-discount-rounding': 'A test that expects another amount',
  'registry-unavailable': 'A package registry that does not answer',
  'deploy-token-missing': 'A secret that is not set',
} as const;
const SampleName = z.enum(Object.keys(SAMPLES) as [keyof typeof SAMPLES]);

const Form = z.object({
  log: z.string().max(MAX_FORM_BYTES).default(''),
  sample: SampleName.optional().catch(undefined),
});

/**
 * Registers `/paste`, which explains a log from anywhere by rules alone. It is not stored, so every
 * reader may use it.
 */
export function registerPaste(app: ConsoleApp, deps: ConsoleDeps): void {
  const top = crumbs([html`<a href="/">Overview</a>`, 'Paste a log']);
  const page = { title: 'Paste a log', part: 'overview', top } as const;
  app.get('/paste', route('read'), async (request, reply) =>
    answerPage(request, reply, deps, { ...page, main: renderPaste(null, '', null) }),
  );
  const options = { ...route('read', { body: Form }), bodyLimit: MAX_FORM_BYTES };
  app.post('/paste', options, async (request, reply) => {
    const { sample } = request.body;
    const log = sample === undefined ? request.body.log : readSample(sample);
    try {
      const answers = await explain(deps, log);
      const explanations = await Promise.all(
        answers.slice(0, MAX_CAUSES).map((answer) => renderExplanation(answer, log)),
      );
      const main = renderPaste(
        html`${explanations}`,
        '',
        explanations.length === 0 ? 'No failure was found in this log.' : null,
      );
      return answerPage(request, reply, deps, { ...page, main });
    } catch (error) {
      if (!(error instanceof TriageError)) throw error;
      // The pasted text stays in the field, so that it can be corrected.
      const { status, message } = deps.refused(error, request, reply);
      const main = renderPaste(null, log, message);
      return answerPage(request, reply, deps, { ...page, main, said: 'Not explained.' }, status);
    }
  });
}

async function explain({ explainLog }: ConsoleDeps, log: string): Promise<readonly Analysis[]> {
  if (explainLog === undefined)
    throw new TriageError('impossible', 'This service does not explain pasted logs.');
  if (log.trim() === '') throw new TriageError('invalid-input', 'Paste a log first: the field is empty.');
  if (log.length > MAX_LOG) {
    const message =
      `The log has ${formatNumber(log.length)} characters; at most ${formatNumber(MAX_LOG)} are read here. ` +
      'Paste the part that fails, from its first error to the end.';
    throw new TriageError('too-large', message);
  }
  const answers = await explainLog(log, AbortSignal.timeout(LIMIT_MS));
  return answers.map(({ analysis }) => analysis);
}

function readSample(name: z.infer<typeof SampleName>): string {
  return readFileSync(join(FAILURES, name, 'log.txt'), 'utf8');
}

function renderPaste(answers: Shown, typed: string, failure: string | null): Html {
  const samples = Object.entries(SAMPLES).map(
    ([name, words]) => html`<button class="chip" name="sample" value="${name}">${words}</button>`,
  );
  const refused = failure !== null && banner(html`<p>${failure}</p>`, { tone: 'amber', id: 'failure' });
  return html`${refused}${answers}
    <section class="part flow" aria-labelledby="paste"><h1 id="paste" tabindex="-1">${
      answers === null ? 'Paste a log that you have' : 'Paste another log'
    }</h1>
    <p class="quiet">It is explained by rules, within seconds. Nothing is stored, and secrets are masked. With
    the build it came from, Faultline also says whose failure it is, and who has seen it before.</p>
    <form method="post" action="/paste" data-whole class="flow"><p><label for="log">Log</label><textarea
    id="log" name="log" rows="12" required class="mono">${typed}</textarea></p><p
    class="acts"><button class="main">Explain it</button></p></form>
    <form method="post" action="/paste" data-whole class="acts"><span class="meta">Or try
    one:</span>${samples}</form></section>`;
}

async function renderExplanation(analysis: Analysis, log: string): Promise<Html> {
  const texts = writeTexts(analysis);
  const ids = listIds(analysis);
  const about = html`<span class="meta">pasted, ${formatCount(log.split('\n').length, 'line')}</span>`;
  const windows: EvidenceWindows = await renderEvidenceWindows(NOT_STORED, analysis, {
    build: { provider: 'upload' },
    claims: texts.claims,
    about,
  });
  const judged = isJudged(analysis);
  const act = texts.order === '' ? 'Look at the evidence' : texts.order;
  return html`<article class="flow"><div class="headline"><p class="kicker">${renderCategory(
    judged ? analysis.category : null,
  )}${judged && html`<span>${nameKind(analysis.kind)}</span>`}</p><h2>${analysis.answer.title}</h2>${
    texts.lead !== '' && html`<div class="lead">${prose(texts.lead, ids)}</div>`
  }</div><dl class="facts"><div class="fact"><dt>${icon('wrench')}What to do</dt><dd><b><span>${inlineProse(
    act,
    ids,
  )}</span></b>${texts.advice !== '' && html`<p>${inlineProse(texts.advice, ids)}</p>`}</dd></div>
    <div class="fact"><dt>${icon('gauge')}How sure?</dt><dd>${sureFact({
      analysis,
      review: null,
      track: { of: 0, right: 0 },
      limit: USUAL_THRESHOLD,
    })}</dd></div></dl>${windows.html}</article>`;
}

/**
 * Stores for a log that is not stored. They are empty, so only the lines that the analysis quotes are shown.
 */
const NOT_STORED = {
  archive: { list: async () => [], lines: async () => null },
  stores: {
    builds: { logsForgottenAt: async () => null },
    ciLinks: { logPages: async () => new Map() },
  },
};
