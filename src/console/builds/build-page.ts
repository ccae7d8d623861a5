import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Analysis, isJudged, saidCategory } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Failure } from '../../domain/failure.ts';
import type { TriageJob } from '../../domain/triage.ts';
import type { ArchivedSource } from '../../ports/build-archive.ts';
import { percent } from '../../publish/answer-facts.ts';
import { findBuild } from '../../publish/find-build.ts';
import { formatNumber } from '../../publish/visible-text.ts';
import { analysisAddress, causeAddress, logAddress, runAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { timeOf } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { sendPage } from '../page.ts';
import { inlineProse } from '../prose.ts';
import { readerOf } from '../reader.ts';
import { buildLine, statusWord } from './build-words.ts';

const Params = z.object({ id: z.string().min(1).max(300) });
/** Tests of one cause that are named; the rest is counted. */
const MAX_TESTS = 20;

interface BuildFacts {
  readonly build: Build;
  readonly job: TriageJob | null;
  readonly step: string | null;
  readonly analyses: readonly Analysis[];
  readonly failures: readonly Failure[];
  readonly sources: readonly ArchivedSource[];
}

/** `/builds/:id`: one build as its causes, then its tests, then its logs. */
export function registerBuildPage(app: FastifyInstance, deps: ConsoleDeps): void {
  const config = { access: { role: 'read' } } as const;
  app.withTypeProvider<ZodTypeProvider>().get('/builds/:id', { config, schema: { params: Params } }, async (request, reply) => {
    const build = await findBuild(deps.stores.builds, request.params.id, {});
    const facts = await factsOf(build, deps);
    const title = `${build.pipeline} #${build.number}`;
    return sendPage(request, reply, { title, place: 'page', part: 'builds', main: pageOf(facts) }, await readerOf(request, deps));
  });
}

async function factsOf(build: Build, { stores, archive, currentStep }: ConsoleDeps): Promise<BuildFacts> {
  const [job, analyses, failures, sources] = await Promise.all([
    stores.triages.findByBuild(build.id),
    stores.analyses.listByBuild(build.id),
    stores.failures.listByBuild(build.id),
    archive.list(build.id),
  ]);
  const step = job?.state === 'running' ? ((await currentStep?.(build.id)) ?? null) : null;
  return { build, job, step, analyses, failures, sources };
}

function pageOf(facts: BuildFacts): Html {
  const { build, analyses, failures } = facts;
  return html`<h1 tabindex="-1">${build.repository} · ${build.pipeline} #${build.number}</h1>
<p>${statusWord(build.status)} · ${buildLine(build)} · received ${timeOf(build.receivedAt)}</p>
<p role="note">${howFar(facts)}</p>
${analyses.length > 0 && html`<h2>${analyses.length === 1 ? 'One cause' : `${analyses.length} causes`}, ${formatNumber(failures.length)} ${failures.length === 1 ? 'failure' : 'failures'}</h2>`}
${analyses.map((analysis) => causeCard(analysis, failures))}
${logsOf(facts)}`;
}

/** One sentence about where its triage stands; never silence. */
function howFar({ build, job, step, analyses }: BuildFacts): Html {
  if (job === null)
    return html`${build.status === 'failed' ? 'This build needs no analysis.' : 'Nothing failed, so there is nothing to analyze.'}`;
  const watch = html` <a href="${runAddress(build.id)}">Watch</a>`;
  if (job.state === 'queued') return html`Waiting for a worker.${job.error !== null && ` The last attempt failed: ${job.error}`}${watch}`;
  if (job.state === 'running') return html`Analyzing${step !== null && `: ${step} is done`}.${watch}`;
  if (job.state === 'failed') return html`<span class="wrong">The analysis failed: ${job.error ?? 'see the server log'}.</span>`;
  return html`${analyses.length === 0 ? 'Analyzed. No failure was found in its logs.' : 'Analyzed.'}`;
}

function causeCard(analysis: Analysis, failures: readonly Failure[]): Html {
  const ids = new Set(analysis.failureIds);
  const own = failures.filter(({ id }) => ids.has(id));
  const tests = own.flatMap(({ test }) => (test === null ? [] : [test.name]));
  const { answer, verdict, recalled } = analysis;
  const standing =
    recalled !== null
      ? `confirmed by ${recalled.confirmedBy}`
      : isJudged(analysis)
        ? `${percent(verdict.confidence)} sure`
        : 'the analysis failed';
  return html`<article class="card"><h3><a href="${analysisAddress(analysis.id)}">${answer.title}</a></h3>
<p><span class="category">${saidCategory(analysis)}</span> · ${standing}${verdict.action !== 'auto_notify' && ' · sent for review'}</p>
<p>${inlineProse(answer.rootCause)}</p>
${tests.length > 0 && html`<details><summary>${formatNumber(tests.length)} ${tests.length === 1 ? 'test' : 'tests'}</summary><ul>${tests.slice(0, MAX_TESTS).map((name) => html`<li>${name}</li>`)}</ul>${tests.length > MAX_TESTS && html`<p>and ${formatNumber(tests.length - MAX_TESTS)} more</p>`}</details>`}
<p><a href="${causeAddress(analysis.fingerprint)}">All occurrences</a> · <a href="${runAddress(analysis.id)}">Analysis steps</a></p></article>`;
}

function logsOf({ build, sources }: BuildFacts): Html {
  if (sources.length === 0) return html`<h2>Logs</h2><p>No log is stored: none was received, or retention deleted it.</p>`;
  const rows = sources.map(
    ({ name, kind, lines, bytes, notes }) =>
      html`<tr><td><a href="${logAddress(build.id, name)}">${name}</a></td><td>${kind}</td><td class="number">${formatNumber(lines)}</td><td class="number">${formatNumber(bytes)}</td><td class="quiet">${notes.join('; ')}</td></tr>`,
  );
  return html`<h2>Logs</h2><div class="scroll" tabindex="0" role="region" aria-label="Logs and reports"><table><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col" class="number">Lines</th><th scope="col" class="number">Bytes</th><th scope="col">Notes</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
