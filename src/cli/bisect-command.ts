import { readFile } from 'node:fs/promises';
import { messageOf, TriageError } from '../domain/errors.ts';
import { Bisection } from '../domain/experiment.ts';
import type { Commit } from '../experiments/base-worktree.ts';
import { bisect } from '../experiments/bisect.ts';
import { type Outcome, outputReader, SHOWN } from '../experiments/outcome.ts';
import { argumentsOf } from '../experiments/run-command.ts';
import { visibleLine } from '../notifications/visible-text.ts';
import { failingTests, withoutNetwork } from './confirm-command.ts';
import { EXIT, interruptSignal, jsonText, print, say } from './terminal.ts';

export interface BisectCommandOptions {
  readonly good?: string;
  readonly bad: string;
  readonly build?: string;
  readonly install?: string;
  readonly log?: string;
  readonly runs: number;
  readonly minutes: number;
  readonly only?: { readonly part: number; readonly of: number };
  readonly results?: readonly string[];
  /** False: the command is run without the network. */
  readonly network: boolean;
  readonly json?: boolean;
  readonly maxBytes: number;
}

/** `faultline bisect -- COMMAND…`: exit 5 where the bad commit does not fail, 10 where no commit is named. */
export async function runBisect(argv: readonly string[], options: BisectCommandOptions): Promise<void> {
  const read = outputReader();
  const { good, bad, build, install, log, runs, minutes, only, json } = options;
  const within = options.network ? undefined : await withoutNetwork();
  const onRun = ({ id, subject }: Commit, outcome: Outcome, milliseconds: number) => {
    if (json !== true) say(`${id.slice(0, 9)} ${visibleLine(subject)}: ${SHOWN[outcome]} (${(milliseconds / 1000).toFixed(1)} s)`);
  };
  const found = await bisect(
    {
      ...{ argv, cwd: process.cwd(), env: process.env, good, bad, runs, limitMs: minutes * 60_000 },
      tests: await failingTests(log, options.maxBytes, read),
      results: await Promise.all((options.results ?? []).map(resultIn)),
      ...(only === undefined ? {} : { only }),
      ...(within === undefined ? {} : { within }),
      ...(build === undefined ? {} : { build: argumentsOf(build) }),
      ...(install === undefined ? {} : { install: argumentsOf(install) }),
    },
    { read, onRun },
    interruptSignal(),
  );
  await print(json === true ? jsonText({ ok: true, schema: 1, ...found }) : render(found));
  if (found.verdict === 'not-reproduced') process.exitCode = EXIT.noFailure;
  else if (found.verdict !== 'found' && found.verdict !== 'part') process.exitCode = EXIT.needsPerson;
}

/** What `--only N/M --json` printed on another machine. */
async function resultIn(path: string): Promise<Bisection> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TriageError('invalid-input', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  });
  const found = Bisection.safeParse(parsed(text));
  if (found.success) return found.data;
  throw new TriageError('invalid-input', `${path} is not what faultline bisect --json prints.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const MOST_SHOWN = 10;

function render({ sentence, tests, narrowed, candidates, tried, skipped, notes }: Bisection): string {
  const named = candidates.length > 1 ? candidates : [];
  return [
    `Result\t${visibleLine(sentence)}`,
    ...named.slice(0, MOST_SHOWN).map(({ commit, subject }) => `Candidate\t${commit.slice(0, 9)} ${visibleLine(subject)}`),
    ...tests.slice(0, MOST_SHOWN).map((test) => `Test\t${visibleLine(test)}`),
    ...(narrowed === null ? [] : [`Command\t${visibleLine(narrowed.join(' '))}`]),
    ...tried.map(({ commit, failed, passed }) => `Runs\t${commit.slice(0, 9)}: ${failed} failed, ${passed} passed`),
    ...skipped.map(({ commit, why }) => `Skipped\t${commit.slice(0, 9)}: ${visibleLine(why)}`),
    ...notes.map((note) => `Note\t${note}`),
  ].join('\n');
}
