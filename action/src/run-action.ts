import type { NewBuild } from '../../src/domain/build.ts';
import { getErrorMessage } from '../../src/domain/errors.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import { formatCount } from '../../src/lib/text.ts';
import { arrangeAnswers, pairWithFailures } from '../../src/notifications/build-answers.ts';
import { withExperiment } from '../../src/service/experiments.ts';
import type { UploadedFile } from '../../src/service/intake/upload.ts';
import { awaitAnswer, reportExperiment, uploadBuild } from './ask-server.ts';
import { gatherFiles, readNamedFiles } from './gather-files.ts';
import { type Environment, type Inputs, readInputs, readSecrets } from './inputs.ts';
import {
  type Answer,
  buildOutputs,
  formatConsoleText,
  formatSummary,
  toWorkspacePaths,
} from './render-answer.ts';
import { buildOfRun, runUrl } from './run-facts.ts';
import {
  formatWorkflowCommand,
  maskCommand,
  showsSummary,
  writeOutputs,
  writeSummary,
} from './runner-files.ts';

/**
 * Runs the step: reads what failed, asks the server or the rules, and reports the result in the summary,
 * annotations, and outputs. Returns the exit code, which is 0 unless `fail-on` asks for another, because a
 * step that breaks must not hide why the job is red. Never throws.
 */
export async function runAction(environment: Environment, print: (text: string) => void): Promise<number> {
  for (const secret of readSecrets(environment)) print(maskCommand(secret));
  const failOn = (environment['INPUT_FAIL-ON'] ?? '').split(',').map((word) => word.trim());
  try {
    const inputs = readInputs(environment);
    if (inputs.passed) {
      await keepPassing(inputs, environment, print);
      return 0;
    }
    const answer = toWorkspacePaths(
      await findAnswer(inputs, environment, print),
      environment.GITHUB_WORKSPACE ?? '',
    );
    print(formatConsoleText(answer, showsSummary(environment)));
    if (answer.pending !== null) print(formatWorkflowCommand('notice', answer.pending));
    await writeSummary(environment, formatSummary(answer));
    await writeOutputs(environment, buildOutputs(answer, runUrl(environment) ?? ''));
    return chooseExitCode(answer, inputs.failOn);
  } catch (error) {
    const message = withoutSecrets(describeError(error), environment);
    print(formatWorkflowCommand('warning', message));
    const none: Answer = {
      answers: [],
      experiment: null,
      pending: `Faultline could not analyze the build: ${message}`,
      getPageUrl: () => null,
    };
    await writeSummary(environment, formatSummary(none)).catch(() => undefined);
    await writeOutputs(environment, buildOutputs(none, runUrl(environment) ?? '')).catch(() => undefined);
    return failOn.includes('unanswered') ? 1 : 0;
  }
}

type Print = (text: string) => void;
/** Null where the job asks for none, or it could not be made. */
type Trial = () => Promise<Experiment | null>;

async function findAnswer(inputs: Inputs, environment: Environment, print: Print): Promise<Answer> {
  const build = await buildOfRun(environment, inputs);
  const files = await gatherFiles(inputs, build, environment);
  const warn = (what: string, error: unknown) =>
    print(formatWorkflowCommand('warning', withoutSecrets(`${what}: ${describeError(error)}`, environment)));
  const trial = async () => {
    if (inputs.confirm === null) return null;
    try {
      const { confirmHere } = await import('./confirm-here.ts');
      return await confirmHere(inputs.confirm, files, environment, print);
    } catch (error) {
      warn('The failure was not confirmed', error);
      return null;
    }
  };
  return inputs.server === null
    ? await answerHere(build, files, environment, trial)
    : await answerThere(
        inputs.server,
        await uploadBuild(inputs.server, build, files),
        inputs.waitMs,
        trial,
        warn,
      );
}

/** Uploads a build that passed. Errors are only warnings, because no one waits for this upload. */
async function keepPassing(inputs: Inputs, environment: Environment, print: Print): Promise<void> {
  if (inputs.server === null) return print('The job passed: nothing to analyze.');
  try {
    const files = await readNamedFiles(inputs, environment);
    await uploadBuild(inputs.server, { ...(await buildOfRun(environment, inputs)), status: 'passed' }, files);
    print(`The job passed. The build was uploaded with ${formatCount(files.length, 'file')}.`);
  } catch (error) {
    print(
      formatWorkflowCommand(
        'warning',
        withoutSecrets(`The passing build was not uploaded: ${describeError(error)}`, environment),
      ),
    );
  }
}

async function answerHere(
  build: NewBuild,
  files: readonly UploadedFile[],
  environment: Environment,
  trial: Trial,
): Promise<Answer> {
  const { triageHere } = await import('./triage-here.ts');
  const { analyses: found, groups } = await triageHere(build, files, environment.GITHUB_WORKSPACE ?? null);
  const experiment = await trial();
  const analyses = experiment === null ? found : withExperiment(found, groups, experiment);
  const answers = arrangeAnswers(pairWithFailures(analyses, groups));
  return {
    answers,
    experiment,
    pending: answers.length === 0 ? 'The logs show no failure.' : null,
    getPageUrl: () => null,
  };
}

/** Gets the answer from the server. The server analyzes the build while the command runs again. */
async function answerThere(
  server: NonNullable<Inputs['server']>,
  buildId: string,
  waitMs: number,
  trial: Trial,
  warn: (what: string, error: unknown) => void,
): Promise<Answer> {
  const experiment = await trial();
  if (experiment !== null)
    await reportExperiment(server, buildId, experiment).catch((error: unknown) =>
      warn('What the runs show was not uploaded', error),
    );
  const { answers, pending } = await awaitAnswer(server, buildId, waitMs);
  const getPageUrl: Answer['getPageUrl'] = (analysis) =>
    analysis === null
      ? `${server.url}/builds/${buildId}`
      : `${server.url}/analyses/${encodeURIComponent(analysis.id)}`;
  return { answers, experiment, pending, getPageUrl };
}

function chooseExitCode({ answers }: Answer, failOn: ReadonlySet<string>): number {
  if (answers.length === 0) return failOn.has('unanswered') ? 1 : 0;
  return failOn.has('any') || answers.some(({ analysis }) => failOn.has(analysis.category)) ? 1 : 0;
}

function describeError(error: unknown): string {
  // Each part of the bundle has a class of this name for itself.
  const meant = error instanceof Error && error.name === 'TriageError';
  return meant ? error.message : `Internal error in the action: ${getErrorMessage(error)}`;
}

/** Masks the secrets in a text. The runner also masks its log, but not the summary. */
function withoutSecrets(text: string, environment: Environment): string {
  return readSecrets(environment).reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
}
