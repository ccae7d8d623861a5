import { resolve } from 'node:path';
import { createTerminalApp } from '../app.ts';
import type { Config } from '../config/schema.ts';
import type { Analysis, Step } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { silentLogger } from '../ports/logger.ts';
import { renderGithubCommands, renderPlain, renderTerminal } from '../publish/render.ts';
import { EXIT } from './exit-codes.ts';
import { readInput, readReports } from './input.ts';
import { interruptSignal, print, startProgress, type Voice, voiceOf } from './terminal.ts';
import { jsonOf } from './triage-json.ts';

export interface TriageCommandOptions {
  readonly junit?: string[];
  readonly repo?: string;
  readonly green?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly budget?: number;
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly quiet?: boolean;
  readonly github?: boolean;
  readonly exitCode?: boolean;
}

const LOCAL = 'local/build';

/** `faultline triage`: one answer per cause, from a log and a terminal, with no server and no key. */
export async function runTriage(path: string, options: TriageCommandOptions, config: Config): Promise<void> {
  const voice = voiceOf(options);
  const progress = startProgress({ ...voice, quiet: voice.quiet || options.json === true });
  const signal = interruptSignal();
  const limit = config.http.maxLogBytes;
  progress.phase(`reading ${path}`);
  const sources = [...(await readInput(path, limit)), ...(await readReports(options.junit ?? [], limit))];
  const green = options.green === undefined ? undefined : (await readInput(options.green, limit)).map((source) => source.text).join('\n');
  const app = await createTerminalApp(effective(config, options), silentLogger);
  const onStep = (step: Step) => progress.phase(`${step.node} ${step.summary}`);
  const { analyses, reading } = await app.triage(localBuild(), sources, signal, {
    onStep,
    ...(green === undefined ? {} : { greenText: green }),
  });
  progress.stop();
  if (analyses.length === 0) throw new TriageError('internal', 'No answer came out; please report this log');
  await print(options.json ? JSON.stringify(jsonOf(analyses, reading)) : render(analyses, options, voice));
  if (options.exitCode) process.exitCode = verdictCode(analyses);
}

function effective(config: Config, options: TriageCommandOptions): Config {
  const clones = options.repo === undefined ? config.codeHost.clones : { ...config.codeHost.clones, [LOCAL]: resolve(options.repo) };
  return {
    ...config,
    codeHost: { ...config.codeHost, clones },
    analyst: { ...config.analyst, driver: options.analyst ?? config.analyst.driver },
    triage: { ...config.triage, budgetTokens: options.budget ?? config.triage.budgetTokens },
  };
}

function render(analyses: readonly Analysis[], options: TriageCommandOptions, voice: Voice): string {
  if (options.github) return analyses.map((analysis) => renderGithubCommands(analysis)).join('');
  if (!voice.color) return analyses.map((analysis) => renderPlain(analysis)).join('\n');
  const rule = (title: string) => `── ${title} ${'─'.repeat(Math.max(0, voice.width - title.length - 4))}\n`;
  const titles = analyses.map((_, index) => (analyses.length === 1 ? 'result' : `cause ${index + 1} of ${analyses.length}`));
  return analyses.map((analysis, index) => `${rule(titles[index] ?? 'result')}${renderTerminal(analysis, voice)}`).join('\n');
}

function verdictCode(analyses: readonly Analysis[]): number {
  if (analyses.some((analysis) => analysis.verdict.action !== 'auto_notify')) return EXIT.needsPerson;
  return analyses.every((analysis) => analysis.category === 'INFRA_ERROR') ? EXIT.infrastructure : EXIT.ok;
}

/** The build that a log from nowhere belongs to. */
function localBuild(): Build {
  return {
    id: 'local',
    provider: 'upload',
    repository: LOCAL,
    pipeline: 'terminal',
    number: '1',
    attempt: 1,
    externalId: null,
    job: null,
    branch: null,
    commit: null,
    author: null,
    pullRequest: null,
    url: null,
    status: 'failed',
    startedAt: null,
    finishedAt: null,
    receivedAt: new Date().toISOString(),
  };
}
