import type { SourceText } from '../../../src/domain/build.ts';
import type { CapturedPart } from './captured-parts.ts';

/** The ways in which parts are printed together, as CI systems do. */
export const FRAMES = ['step', 'steps', 'stages', 'jobs'] as const;
export type Frame = (typeof FRAMES)[number];

/**
 * The lines of a joined log that contain the output of a part. Lines are counted from 1, and both ends are
 * included.
 */
export interface PartSpan {
  readonly part: CapturedPart;
  readonly source: string;
  readonly lineStart: number;
  readonly lineEnd: number;
}

export interface JoinedLog {
  readonly sources: readonly SourceText[];
  /** The spans of the parts, in order. */
  readonly spans: readonly PartSpan[];
}

/**
 * Prints parts as one build of one repository, in which each has a folder of its own:
 *
 * - `step`: one step of a GitHub Actions job runs their commands one after the other and fails in the end;
 * - `steps`: each is a step of one job, run although the one before has failed;
 * - `stages`: each is a stage of a Jenkins Pipeline that catches the error of its shell step;
 * - `jobs`: each is a job of its own, with its own log.
 */
export function joinLogs(parts: readonly CapturedPart[], frame: Frame): JoinedLog {
  if (frame === 'jobs') {
    const logs = parts.map((part, at) =>
      printJob(`${at + 1}_${part.runner.replace(/\W+/g, '-')}.txt`, [[part]]),
    );
    return { sources: logs.flatMap(({ sources }) => sources), spans: logs.flatMap(({ spans }) => spans) };
  }
  if (frame === 'stages') return printPipeline(parts);
  return printJob('log.txt', frame === 'step' ? [parts] : parts.map((part) => [part]));
}

/** Creates a log to which output is added, and which remembers where each part's output is. */
function createPrinter(source: string) {
  const lines: string[] = [];
  const spans: PartSpan[] = [];
  return {
    print: (...more: readonly string[]) => {
      for (const line of more) lines.push(line);
    },
    printOutput: (part: CapturedPart, output: readonly string[]) => {
      const lineStart = lines.length + 1;
      for (const line of output) lines.push(line);
      spans.push({ part, source, lineStart, lineEnd: lines.length });
    },
    finish: (stamp: (line: string, at: number) => string = (line) => line): JoinedLog => ({
      sources: [{ name: source, kind: 'log', text: `${lines.map(stamp).join('\n')}\n`, notes: [] }],
      spans,
    }),
  };
}

const CHECKOUT = [
  '##[group]Run actions/checkout@v4',
  'with:',
  '  repository: example/mono',
  '  fetch-depth: 1',
  '##[endgroup]',
];
const CLEANUP = [
  'Post job cleanup.',
  '[command]/usr/bin/git version',
  'git version 2.49.0',
  'Cleaning up orphan processes',
];

/**
 * Prints a job of GitHub Actions. A step with several parts runs all of them and ends with the last exit
 * code.
 */
function printJob(source: string, steps: ReadonlyArray<readonly CapturedPart[]>): JoinedLog {
  const printer = createPrinter(source);
  printer.print(...CHECKOUT, 'Syncing repository: example/mono');
  for (const parts of steps) {
    const script = toScript(parts);
    printer.print(`##[group]Run ${script[0]}`, ...script.map((line) => `\u001b[36;1m${line}\u001b[0m`));
    printer.print('shell: /usr/bin/bash -e {0}', '##[endgroup]');
    for (const part of parts)
      printer.printOutput(
        part,
        part.output.map((line) => moveWorkspace(line, '/home/runner/work/mono/mono')),
      );
    printer.print(`##[error]Process completed with exit code ${parts.at(-1)?.exitCode ?? 1}.`);
  }
  printer.print(...CLEANUP);
  return printer.finish(stampLine);
}

function toScript(parts: readonly CapturedPart[]): string[] {
  const [only] = parts;
  if (parts.length === 1) return [...(only?.commands ?? [])];
  const commands = parts.flatMap((part) =>
    part.commands.map((command, at) => (at < part.commands.length - 1 ? command : `${command} || status=$?`)),
  );
  return ['status=0', ...commands, 'exit $status'];
}

const STARTED = Date.UTC(2026, 10, 21, 9, 30);

function stampLine(line: string, at: number): string {
  return `${new Date(STARTED + at * 7).toISOString().replace('Z', '0000Z')} ${line}`;
}

function printPipeline(parts: readonly CapturedPart[]): JoinedLog {
  const printer = createPrinter('console.txt');
  printer.print(
    'Started by an SCM change',
    '[Pipeline] Start of Pipeline',
    '[Pipeline] node',
    'Running on ci-1 in /home/jenkins/workspace/mono',
    '[Pipeline] {',
  );
  for (const [at, part] of parts.entries()) {
    printer.print(
      '[Pipeline] stage',
      `[Pipeline] { (${part.runner} ${at + 1})`,
      '[Pipeline] catchError',
      '[Pipeline] {',
      '[Pipeline] sh',
    );
    printer.print(...part.commands.map((command) => `+ ${command}`));
    printer.printOutput(
      part,
      part.output.map((line) => moveWorkspace(line, '/home/jenkins/workspace/mono')),
    );
    printer.print(
      '[Pipeline] }',
      `ERROR: script returned exit code ${part.exitCode}`,
      '[Pipeline] // catchError',
      '[Pipeline] }',
      '[Pipeline] // stage',
    );
  }
  printer.print('[Pipeline] }', '[Pipeline] // node', '[Pipeline] End of Pipeline', 'Finished: FAILURE');
  return printer.finish();
}

/**
 * Moves the workspace of a line. Each part comes from a repository of its own, which becomes a folder of the
 * joined one.
 */
function moveWorkspace(line: string, workspace: string): string {
  return line.replace(
    /\/home\/(?:runner\/work\/([\w.-]+)\/\1|jenkins\/workspace\/([\w.-]+))(?![\w.-])/g,
    (_, github, jenkins) => {
      return `${workspace}/${github ?? jenkins}`;
    },
  );
}
