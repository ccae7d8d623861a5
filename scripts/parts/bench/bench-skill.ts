import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { openLogExplainer } from '../../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import { sumNumbers } from '../../../src/lib/collections.ts';
import { countTokens } from '../../../src/log/reduce/tokens.ts';
import { explainLog } from '../../../src/mcp/answer-tools.ts';

/**
 * Scripted readers of captured failures, each of which stops at the file that it would edit first: two read
 * the log as agents without the skill do, and two follow the first step of the skill. Prints for each
 * how many calls it made, how many tokens came back, and how often the file is one that the known cause
 * names. The readers follow fixed rules: what a model would make of the same texts is not measured.
 */
const FAILURES = resolve('test/fixtures/failures');
const PROJECTS = resolve('test/captures/projects');
const COUNT = 20;
/** The lines that a reader without the skill takes at a time, and how often it reads on. */
const LINES = 200;
const MAX_READS = 5;
const PATH = /(?<![\w/.-])\.{0,2}\/?(?:[\w.@-]+\/)*[\w.-]+\.[a-z]{1,5}\b/g;

const Truth = z.object({ slug: z.string(), cause: z.string(), fix: z.string() });
const Answers = z.object({
  analyses: z.array(
    z.object({ suspects: z.array(z.object({ path: z.string() })), rootCause: z.string(), fix: z.string() }),
  ),
});

interface Failure {
  readonly slug: string;
  readonly log: readonly string[];
  readonly files: readonly string[];
  /** The files of the project that the known cause and fix name. */
  readonly right: ReadonlySet<string>;
}

interface Outcome {
  readonly calls: number;
  readonly tokens: number;
  readonly file: string | undefined;
}

const failures = readFailures();
const explain = explainLog(
  openLogExplainer(parseConfig(createEmbeddedPreset('.faultline/none', 'knowledge'))),
);
const readers: Readonly<Record<string, (failure: Failure) => Outcome | Promise<Outcome>>> = {
  'without the skill, reads the end of the log': readFromEnd,
  'without the skill, searches the log for errors': searchErrors,
  'with the skill, runs faultline triage --json': askFaultline,
  'with the skill, calls explain_log over MCP': callExplainLog,
};
const lines = sumNumbers(failures.map(({ log }) => log.length)) / failures.length;
console.log(
  `${failures.length} failures, the first by name whose known cause names a file of the project; ` +
    `${Math.round(lines)} lines of log on average`,
);
for (const [name, read] of Object.entries(readers)) {
  const outcomes: (Outcome & { readonly failure: Failure })[] = [];
  for (const failure of failures) outcomes.push({ failure, ...(await read(failure)) });
  const right = outcomes.filter(({ failure, file }) => file !== undefined && failure.right.has(file));
  const calls = sumNumbers(outcomes.map((outcome) => outcome.calls)) / outcomes.length;
  const tokens = sumNumbers(outcomes.map((outcome) => outcome.tokens)) / outcomes.length;
  const spent = `${calls.toFixed(1)} calls, ${Math.round(tokens)} tokens`;
  console.log(`${name}: ${spent}, right file ${right.length} of ${outcomes.length}`);
  if (process.argv.includes('--list'))
    for (const { failure, file } of outcomes)
      console.log(`  ${failure.slug}: ${file ?? 'none'} (right: ${[...failure.right].join(', ')})`);
}

function readFailures(): Failure[] {
  const found: Failure[] = [];
  for (const slug of readdirSync(FAILURES).toSorted()) {
    const folder = join(PROJECTS, slug, 'project');
    const files = listFiles(folder);
    if (files.length === 0) continue;
    const truth = Truth.parse(JSON.parse(readFileSync(join(FAILURES, slug, 'truth.json'), 'utf8')));
    const right = new Set(findFiles(`${truth.cause} ${truth.fix}`, files));
    if (right.size === 0) continue;
    const log = readFileSync(join(FAILURES, slug, 'log.txt'), 'utf8').split('\n');
    found.push({ slug, log, files, right });
  }
  return found.slice(0, COUNT);
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return [];
  }
}

/** Finds the files of a project that a text names, in the order of the text. */
function findFiles(text: string, files: readonly string[]): string[] {
  return [...text.matchAll(PATH)].flatMap(([path]) => {
    const named = path.replace(/^\.{0,2}\//, '');
    const file =
      files.find((candidate) => candidate === named) ??
      files.find((candidate) => named.endsWith(`/${candidate}`) || candidate.endsWith(`/${named}`));
    return file === undefined ? [] : [file];
  });
}

/** Reads pieces of the log from its end until one names a file, and takes the file that is named last. */
function readFromEnd({ log, files }: Failure): Outcome {
  let tokens = 0;
  for (let calls = 1; calls <= MAX_READS; calls += 1) {
    const end = log.length - (calls - 1) * LINES;
    const piece = log.slice(Math.max(0, end - LINES), Math.max(0, end)).join('\n');
    tokens += countTokens(piece);
    const file = findFiles(piece, files).at(-1);
    if (file !== undefined || end <= LINES) return { calls, tokens, file };
  }
  return { calls: MAX_READS, tokens, file: undefined };
}

/** Searches for lines with an error, takes the first file that they name, and else reads the end. */
function searchErrors(failure: Failure): Outcome {
  const hits = failure.log
    .filter((line) => /error|fail/i.test(line))
    .slice(0, LINES)
    .join('\n');
  const [file] = findFiles(hits, failure.files);
  const tokens = countTokens(hits);
  if (file !== undefined) return { calls: 1, tokens, file };
  const next = readFromEnd(failure);
  return { calls: next.calls + 1, tokens: tokens + next.tokens, file: next.file };
}

/** Runs the command of the skill. Takes the first suspect, else the first file of the cause and the fix. */
function askFaultline({ slug, files }: Failure): Outcome {
  const args = ['src/cli/main.ts', 'triage', join(FAILURES, slug, 'log.txt'), '--json'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const [main] = Answers.parse(JSON.parse(stdout)).analyses;
  const named = main?.suspects.map(({ path }) => path).concat(main.rootCause, main.fix) ?? [];
  const [file] = findFiles(named.join('\n'), files);
  return { calls: 1, tokens: countTokens(stdout), file };
}

/** Calls the tool of the MCP server. Takes the first suspect of its text, else the first file in it. */
async function callExplainLog({ log, files }: Failure): Promise<Outcome> {
  const { text } = await explain.call({ log: log.join('\n') }, { signal: AbortSignal.timeout(60_000) });
  const suspects = text.split('\n').filter((line) => line.startsWith('Suspects:'));
  const [file] = findFiles([...suspects, text].join('\n'), files);
  return { calls: 1, tokens: countTokens(text), file };
}
