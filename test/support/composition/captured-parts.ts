import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { stripEscapes } from '../../../src/log/lines/clean.ts';

/** The output of one captured command until it failed, without the frame of its CI system. */
export interface CapturedPart {
  readonly id: string;
  /**
   * The set of captures. `failures`: of an everyday tool. `tools`: of one of many tools. `mixed`: several
   * failures in one command.
   */
  readonly set: 'failures' | 'tools' | 'mixed';
  /** The test runner or tool. Parts with the same runner can be two runs of it. */
  readonly runner: string;
  readonly commands: readonly string[];
  readonly output: readonly string[];
  readonly exitCode: number;
}

const FIXTURES = join(import.meta.dirname, '../../fixtures');
const Truth = z.object({
  tool: z.string().optional(),
  tools: z.record(z.string(), z.unknown()).default({}),
  failingTests: z.array(z.unknown()).default([]),
  exitCode: z.int(),
});
const MixedRow = z.object({
  id: z.string(),
  runner: z.string(),
  log_path: z.string().nullish(),
  green: z.boolean().nullish(),
});

/**
 * Returns every captured failure that shows which command failed: failures with one cause, and builds with
 * several causes by real runners if there are any.
 */
export function readCapturedParts(): CapturedPart[] {
  return [...(['failures', 'tools'] as const).flatMap(readSet), ...readMixed()];
}

function readSet(set: 'failures' | 'tools'): CapturedPart[] {
  const folders = readdirSync(join(FIXTURES, set), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return folders.flatMap(({ name }) => {
    const file = (path: string) => readFileSync(join(FIXTURES, set, name, path), 'utf8');
    const truth = Truth.parse(JSON.parse(file('truth.json')));
    const part = cutPart(file('log.txt'));
    return part === null
      ? []
      : [{ id: name, set, runner: nameRunner(name, truth), exitCode: truth.exitCode, ...part }];
  });
}

function readMixed(): CapturedPart[] {
  const path = join(FIXTURES, 'mixed/mixed.jsonl');
  if (!existsSync(path)) return [];
  const rows = readFileSync(path, 'utf8').trim().split('\n');
  return rows.flatMap((line) => {
    const { id, runner, log_path: log, green } = MixedRow.parse(JSON.parse(line));
    const part =
      log == null || green === true ? null : cutPart(readFileSync(join(FIXTURES, 'mixed', log), 'utf8'));
    return part === null ? [] : [{ id, set: 'mixed' as const, runner, exitCode: 1, ...part }];
  });
}

/** The tools that only start another one. */
const STARTERS = new Set(['node', 'npm', 'java', 'python', 'bash', 'make', 'g++']);
const SAME_RUNNER: Readonly<Record<string, string>> = {
  'go-test': 'go test',
  php: 'phpunit',
  perl: 'prove',
  cmake: 'ctest',
};

function nameRunner(slug: string, { tool, tools, failingTests }: z.infer<typeof Truth>): string {
  if (tool !== undefined) return SAME_RUNNER[tool] ?? tool;
  const names = Object.keys(tools);
  const last = names.findLast((name) => !STARTERS.has(name));
  if (last === undefined) return names.includes('python') && failingTests.length > 0 ? 'unittest' : slug;
  if (failingTests.length === 0) return last;
  return last === 'go' || last === 'cargo' || last === 'maven' ? `${last} test` : (SAME_RUNNER[last] ?? last);
}

type Cut = Pick<CapturedPart, 'commands' | 'output'>;

/** Cuts the failing command out of a job's log. Returns null if it shows none. */
export function cutPart(log: string): Cut | null {
  const lines = log.split('\n').map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, ''));
  if (lines.some((line) => line.startsWith('##[group]Run '))) return cutGitHub(lines);
  if (lines.some((line) => / \$ \/bin\/sh -xe /.test(line))) return cutJenkins(lines);
  return cutPlain(lines);
}

function cutGitHub(lines: readonly string[]): Cut | null {
  const end = lines.findIndex((line) =>
    stripEscapes(line).startsWith('##[error]Process completed with exit code'),
  );
  const start = lines.findLastIndex((line, at) => at < end && line.startsWith('##[group]Run '));
  const head = lines.findIndex((line, at) => at > start && line === '##[endgroup]');
  if (start === -1 || head === -1 || head > end) return null;
  const echoed = lines.slice(start + 1, head).filter((line) => line.startsWith('\u001b[36;1m'));
  return toCut(echoed.map(stripEscapes), lines.slice(head + 1, end));
}

function cutJenkins(lines: readonly string[]): Cut | null {
  const end = lines.findIndex((line) =>
    line.startsWith("Build step 'Execute shell' marked build as failure"),
  );
  const start = lines.findLastIndex((line, at) => at < end && / \$ \/bin\/sh -xe /.test(line));
  return start === -1 ? null : cutEchoed(lines.slice(start + 1, end), '+ ');
}

function cutPlain(lines: readonly string[]): Cut | null {
  const start = lines.findLastIndex((line) => line.startsWith('$ '));
  return start === -1 ? null : cutEchoed(lines.slice(start), '$ ');
}

function cutEchoed(lines: readonly string[], mark: string): Cut | null {
  const first = lines.findIndex((line) => !line.startsWith(mark));
  return first === -1
    ? null
    : toCut(
        lines.slice(0, first).map((line) => line.slice(mark.length)),
        lines.slice(first),
      );
}

function toCut(commands: readonly string[], output: readonly string[]): Cut | null {
  const last = output.findLastIndex((line) => line.trim() !== '');
  return commands.length === 0 || last === -1 ? null : { commands, output: output.slice(0, last + 1) };
}
