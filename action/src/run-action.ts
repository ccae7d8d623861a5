import type { NewBuild } from '../../src/domain/build.ts';
import { messageOf } from '../../src/domain/errors.ts';
import type { UploadedFile } from '../../src/service/intake/upload-shape.ts';
import { askServer } from './ask-server.ts';
import { gatherFiles } from './gather-files.ts';
import { type Environment, type Inputs, readInputs, secretsOf } from './inputs.ts';
import { type Answer, outputsOf, printedOf, summaryOf, withinWorkspace } from './render-answer.ts';
import { buildOfRun, runUrl } from './run-facts.ts';
import { maskCommand, showsSummary, workflowCommand, writeOutputs, writeSummary } from './runner-files.ts';

/**
 * The step: reads what failed, asks the server or the rules, and says it in the summary, annotations and outputs. Returns the exit code:
 * 0 unless `fail-on` asks for more, since a step that breaks must not hide why the job is red. Never throws.
 */
export async function runAction(environment: Environment, print: (text: string) => void): Promise<number> {
  for (const secret of secretsOf(environment)) print(maskCommand(secret));
  const failOn = (environment['INPUT_FAIL-ON'] ?? '').split(',').map((word) => word.trim());
  try {
    const inputs = readInputs(environment);
    const answer = withinWorkspace(await answerOf(inputs, environment), environment.GITHUB_WORKSPACE ?? '');
    print(printedOf(answer, showsSummary(environment)));
    if (answer.pending !== null) print(workflowCommand('notice', answer.pending));
    await writeSummary(environment, summaryOf(answer));
    await writeOutputs(environment, outputsOf(answer, runUrl(environment) ?? ''));
    return exitCodeOf(answer, inputs.failOn);
  } catch (error) {
    const said = withoutSecrets(sentenceOf(error), environment);
    print(workflowCommand('warning', said));
    const none: Answer = { analyses: [], pending: `Faultline could not analyze the build: ${said}`, pageOf: () => null };
    await writeSummary(environment, summaryOf(none)).catch(() => undefined);
    await writeOutputs(environment, outputsOf(none, runUrl(environment) ?? '')).catch(() => undefined);
    return failOn.includes('unanswered') ? 1 : 0;
  }
}

async function answerOf(inputs: Inputs, environment: Environment): Promise<Answer> {
  const build = await buildOfRun(environment, inputs);
  const files = await gatherFiles(inputs, build, environment);
  return inputs.server === null
    ? await answerHere(build, files, environment)
    : await answerThere(inputs.server, build, files, inputs.waitMs);
}

async function answerHere(build: NewBuild, files: readonly UploadedFile[], environment: Environment): Promise<Answer> {
  const { triageHere } = await import('./triage-here.ts');
  const analyses = await triageHere(build, files, environment.GITHUB_WORKSPACE ?? null);
  return { analyses, pending: analyses.length === 0 ? 'The logs show no failure.' : null, pageOf: () => null };
}

async function answerThere(
  server: NonNullable<Inputs['server']>,
  build: NewBuild,
  files: readonly UploadedFile[],
  waitMs: number,
): Promise<Answer> {
  const { buildId, analyses, pending } = await askServer(server, build, files, waitMs);
  const pageOf: Answer['pageOf'] = (analysis) =>
    analysis === null ? `${server.url}/builds/${buildId}` : `${server.url}/analyses/${encodeURIComponent(analysis.id)}`;
  return { analyses, pending, pageOf };
}

function exitCodeOf({ analyses }: Answer, failOn: ReadonlySet<string>): number {
  if (analyses.length === 0) return failOn.has('unanswered') ? 1 : 0;
  return failOn.has('any') || analyses.some(({ category }) => failOn.has(category)) ? 1 : 0;
}

function sentenceOf(error: unknown): string {
  // Each part of the bundle has a class of this name for itself.
  const meant = error instanceof Error && error.name === 'TriageError';
  return meant ? error.message : `Internal error in the action: ${messageOf(error)}`;
}

/** The runner hides them as well; the summary it does not look at. */
function withoutSecrets(text: string, environment: Environment): string {
  return secretsOf(environment).reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
}
