import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setInterval } from 'node:timers';
import { TriageError } from '../../../src/domain/errors.ts';
import { listReaderLiterals, READER_GROUPS } from '../../../src/log/extract/run.ts';
import { wrapBytes } from '../../../src/log/lines/bytes.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { readSources } from '../../../src/log/read-sources.ts';
import { createGrowingScan } from '../../../src/log/scan/scan-log.ts';
import { createLogThreads } from '../../../src/log/worker-pool.ts';
import {
  type CorpusLog,
  generateLog,
  HOSTILE_LOGS,
  readCorpus,
  writeCorpus,
  writeGeneratedLog,
  writeHostileLog,
} from './bench-logs.ts';
import { findLinesHolding, matchAlone, matchTogether } from './match.ts';

/** The options of the benchmark. Sizes are in bytes. */
interface ReadBenchOptions {
  /** Logs to match and read. Generated ones are used if there are none. */
  readonly logs: readonly string[];
  readonly matchBytes: number;
  /** Two sizes of generated logs, whose memory and time are compared. */
  readonly memoryBytes: readonly [number, number];
  readonly hostileBytes: number;
  readonly rounds: number;
  readonly budgetTokens: number;
  /** The command of a Python that has Drain3. */
  readonly python: string;
  /** The arguments with which Node runs `faultline read FILE`, without the file. */
  readonly readCommand: readonly string[];
}

/** A figure, with the value that it is compared with. */
export interface BenchFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: 'MB/s' | 'MB' | '×' | 'lines' | 'ms';
  readonly note?: string;
}

const MEGA = 1_000_000;
const GENERATED_LOGS = 20;
const GENERATED_BYTES = 2 * MEGA;
const DRAIN_BYTES = 10 * MEGA;

/** Compares reading with other programs in one run. Reports each figure as soon as it is known. */
export async function benchReading(
  options: ReadBenchOptions,
  tell: (figure: BenchFigure) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-'));
  try {
    const logs = options.logs.length > 0 ? await readCorpus(options.logs) : generateCorpus();
    await benchMatching(folder, logs, options, tell);
    await benchWholeRead(folder, logs, options, tell);
    await benchMemory(folder, options, tell);
    await benchHostile(folder, options, tell);
    await benchEventLoop(options, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function generateCorpus(): CorpusLog[] {
  return Array.from({ length: GENERATED_LOGS }, (_, i) => ({
    name: `generated ${i + 1}`,
    text: generateLog(GENERATED_BYTES, i + 1),
  }));
}

async function benchMatching(
  folder: string,
  logs: readonly CorpusLog[],
  options: ReadBenchOptions,
  tell: (figure: BenchFigure) => void,
) {
  const file = join(folder, 'corpus.log');
  const patterns = join(folder, 'patterns.txt');
  // ripgrep ignores the case of ASCII letters only if all of its patterns are ASCII.
  const literals = listReaderLiterals().filter((literal) => /^[ -~]+$/.test(literal));
  const size = writeCorpus(file, logs, options.matchBytes) / MEGA;
  writeFileSync(patterns, `${literals.join('\n')}\n`);
  const peers = SEARCHERS.filter(({ command }) => isInstalled(command));
  const times = new Map<string, number[]>();
  const note = (name: string, milliseconds: number) =>
    times.set(name, [...(times.get(name) ?? []), milliseconds]);
  matchAlone(file, literals);
  for (let round = 0; round < options.rounds; round++) {
    note('one thread', matchAlone(file, literals).milliseconds);
    note('two threads', (await matchTogether(file, literals, 2)).milliseconds);
    for (const peer of peers) note(peer.name, countWith(peer, patterns, file).milliseconds);
  }
  const speed = (name: string) => (size * 1000) / computeMedian(times.get(name) ?? []);
  const of = `${literals.length} literals, ${size.toFixed(0)} MB, median of ${options.rounds}`;
  for (const name of times.keys())
    tell({ name: `matching: ${name}`, value: speed(name), unit: 'MB/s', note: of });
  for (const { name } of peers) {
    tell({ name: `matching: one thread to ${name}`, value: speed('one thread') / speed(name), unit: '×' });
    tell({ name: `matching: two threads to ${name}`, value: speed('two threads') / speed(name), unit: '×' });
  }
  for (const peer of peers.slice(0, 1)) {
    const differing = await countDifferences(
      findLinesHolding(file, literals),
      findLinesWith(peer, patterns, file),
    );
    tell({
      name: `matching: lines that differ from ${peer.name}`,
      value: differing,
      unit: 'lines',
      note: `of ${matchAlone(file, literals).lines} hits`,
    });
  }
}

/** Counts the lines that only one of two ascending lists contains. */
async function countDifferences(left: Iterator<number>, right: AsyncIterator<number>): Promise<number> {
  let differing = 0;
  let mine = left.next();
  let theirs = await right.next();
  while (mine.done !== true || theirs.done !== true) {
    const a = mine.done === true ? Number.POSITIVE_INFINITY : mine.value;
    const b = theirs.done === true ? Number.POSITIVE_INFINITY : theirs.value;
    if (a !== b) differing++;
    if (a <= b) mine = left.next();
    if (b <= a) theirs = await right.next();
  }
  return differing;
}

async function benchWholeRead(
  folder: string,
  logs: readonly CorpusLog[],
  options: ReadBenchOptions,
  tell: (figure: BenchFigure) => void,
) {
  const masker = createMasker();
  const inMemory = logs.map(({ name, text }) => ({ name, bytes: wrapBytes(Buffer.from(text)) }));
  const size = logs.reduce((total, { text }) => total + Buffer.byteLength(text), 0) / MEGA;
  const seconds: number[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const startedAt = performance.now();
    for (const { name, bytes } of inMemory) {
      const pieces: Buffer[] = [];
      const { scan, add } = createGrowingScan(bytes, READER_GROUPS.length);
      const hidden = await masker.maskPieces(bytes, (piece) => pieces.push(Buffer.from(piece)), {
        groups: READER_GROUPS,
        add,
      });
      const masked = hidden === 0 ? { bytes, scan } : { bytes: wrapBytes(Buffer.concat(pieces)) };
      readSources([{ name, kind: 'log', notes: [], ...masked }], { budgetTokens: options.budgetTokens });
    }
    // The first round is for warming up.
    if (round > 0) seconds.push((performance.now() - startedAt) / 1000);
  }
  const speed = size / computeMedian(seconds);
  const of = `${logs.length} logs, ${size.toFixed(0)} MB, ${options.budgetTokens} tokens each, median of ${options.rounds}`;
  tell({ name: 'whole read, one thread', value: speed, unit: 'MB/s', note: of });
  const sample = join(folder, 'sample.log');
  const bytes = writeCorpus(sample, takeFirst(logs, DRAIN_BYTES), 1);
  const mined = mineWithDrain3(options.python, sample);
  if (mined === null) return;
  const theirs = bytes / MEGA / mined.seconds;
  tell({
    name: 'Drain3, templates only',
    value: theirs,
    unit: 'MB/s',
    note: `${(bytes / MEGA).toFixed(0)} MB, ${mined.templates} templates`,
  });
  tell({ name: 'whole read to Drain3', value: speed / theirs, unit: '×' });
}

/** Returns parts of logs with about `bytes` in total, taken from the whole corpus. */
function takeFirst(logs: readonly CorpusLog[], bytes: number): CorpusLog[] {
  const share = Math.max(1_000, Math.floor(bytes / logs.length));
  return logs.map(({ name, text }) => ({ name, text: text.slice(0, share) }));
}

async function benchMemory(folder: string, options: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const run = async (name: string, bytes: number) => {
    const file = join(folder, name);
    writeGeneratedLog(file, bytes);
    const cost = await measureCost([...options.readCommand, file]);
    rmSync(file);
    return { ...cost, megabytes: bytes / MEGA };
  };
  const idle = await run('idle.log', 1_000);
  const [small, large] = [
    await run('small.log', options.memoryBytes[0]),
    await run('large.log', options.memoryBytes[1]),
  ];
  for (const { megabytes, milliseconds, peakBytes } of [small, large]) {
    const name = `faultline read, ${megabytes.toFixed(0)} MB`;
    tell({ name, value: (megabytes * 1000) / milliseconds, unit: 'MB/s', note: 'with starting the program' });
    if (peakBytes !== null && idle.peakBytes !== null) {
      const above = `above the ${(idle.peakBytes / MEGA).toFixed(0)} MB of reading one kilobyte`;
      tell({
        name: `${name}: peak memory`,
        value: (peakBytes - idle.peakBytes) / MEGA,
        unit: 'MB',
        note: above,
      });
    }
  }
  const linear = large.milliseconds / (small.milliseconds * (large.megabytes / small.megabytes));
  tell({ name: 'time of the larger to that of the smaller, a megabyte', value: linear, unit: '×' });
}

async function benchHostile(folder: string, options: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const file = join(folder, 'hostile.log');
  const measureTime = async () =>
    (await measureCost([...options.readCommand, file])).milliseconds / (statSync(file).size / MEGA);
  writeGeneratedLog(file, options.hostileBytes);
  const normal = await measureTime();
  for (const log of HOSTILE_LOGS) {
    writeHostileLog(file, log, options.hostileBytes);
    tell({
      name: `hostile: ${log.name}, time a megabyte`,
      value: (await measureTime()) / normal,
      unit: '×',
      note: 'to a generated log',
    });
  }
}

/**
 * Measures the longest delay of other requests while a log is masked and read in threads, as in the service.
 */
async function benchEventLoop(
  { hostileBytes, budgetTokens }: ReadBenchOptions,
  tell: (figure: BenchFigure) => void,
) {
  const threads = createLogThreads({ small: 0 });
  const line = 'error: failed\n';
  // The text is made of bytes, because a repeated string would only be assembled when its first part is sent.
  const text = Buffer.alloc(hostileBytes, line).toString('latin1');
  await threads.masker.maskAll([line]);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  try {
    const [masked] = await threads.masker.maskAll([text]);
    await threads.read([{ name: 'hostile', kind: 'log', text: masked?.text ?? '', notes: [] }], {
      budgetTokens,
    });
  } finally {
    delay.disable();
    await threads.close();
  }
  const note = `masking and reading ${(hostileBytes / MEGA).toFixed(0)} MB of one line in threads`;
  tell({ name: 'event loop: longest gap', value: delay.max / 1e6, unit: 'ms', note });
}

/** A program that searches for many literals on one thread, without regard to the case of ASCII letters. */
interface Searcher {
  readonly name: string;
  /** The program and its arguments, up to the file of patterns. */
  readonly command: readonly string[];
}

const SEARCHERS: readonly Searcher[] = [
  { name: 'ripgrep -j1', command: ['rg', '-j1', '-a', '--no-config', '--no-unicode', '-i', '-F', '-f'] },
  { name: 'grep', command: ['env', 'LC_ALL=C', 'grep', '-a', '-i', '-F', '-f'] },
];

const TIME_LIMIT = 600_000;

/** Tells whether a program can be run here. */
function isInstalled(command: readonly string[]): boolean {
  const program = command[0] === 'env' ? (command[2] ?? '') : (command[0] ?? '');
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

/** Returns the number of matching lines, and the milliseconds including the start of the program. */
function countWith(
  searcher: Searcher,
  patterns: string,
  file: string,
): { lines: number; milliseconds: number } {
  const [program = '', ...rest] = searcher.command;
  const startedAt = performance.now();
  const run = spawnSync(program, [...rest, patterns, '-c', file], { encoding: 'utf8', timeout: TIME_LIMIT });
  const milliseconds = performance.now() - startedAt;
  if (run.status !== 0)
    throw new TriageError(
      'internal',
      `${searcher.name} failed: ${run.stderr.trim() || `exit ${run.status}`}`,
    );
  return { lines: Number(run.stdout.trim()), milliseconds };
}

/** Yields the numbers of the matching lines, as printed by the program. */
async function* findLinesWith(searcher: Searcher, patterns: string, file: string): AsyncGenerator<number> {
  const [program = '', ...rest] = searcher.command;
  const child = spawn(program, [...rest, patterns, '-n', file], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIME_LIMIT,
  });
  for await (const line of createInterface({ input: child.stdout.setEncoding('latin1'), crlfDelay: 0 })) {
    const number = Number.parseInt(line, 10);
    // Node's reader also splits lines at carriage returns. The part after one has no number.
    if (Number.isInteger(number) && line.startsWith(`${number}:`)) yield number;
  }
}

/**
 * Returns the lines, templates and seconds of Drain3 for a file. Returns null if Python or the package is
 * missing.
 */
function mineWithDrain3(
  python: string,
  file: string,
): { seconds: number; lines: number; templates: number } | null {
  const script = join(import.meta.dirname, 'mine-templates.py');
  const run = spawnSync(python, [script, file], { encoding: 'utf8', timeout: TIME_LIMIT });
  const [seconds, lines, templates] = (run.stdout ?? '').trim().split(' ').map(Number);
  return run.status === 0 && seconds !== undefined && lines !== undefined && templates !== undefined
    ? { seconds, lines, templates }
    : null;
}

/** Returns the median. For an even number of values, it is the lower of the two middle ones. */
export function computeMedian(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/**
 * The cost of a process: wall-clock milliseconds, and the peak of its resident memory in bytes, which is null
 * if the system does not report it.
 */
interface ProcessCost {
  readonly milliseconds: number;
  readonly peakBytes: number | null;
}

const LOOK_EVERY = 20;

/** The exit code of `faultline read` if no line reports a failure (src/cli/terminal.ts). */
const NO_FAILURE = 5;

/** Runs this Node with the arguments and measures its memory. Throws if it fails. */
async function measureCost(args: readonly string[]): Promise<ProcessCost> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  let peakBytes: number | null = null;
  const look = setInterval(() => {
    peakBytes = readPeak(child.pid) ?? peakBytes;
  }, LOOK_EVERY);
  try {
    const [code] = await once(child, 'exit');
    if (code !== 0 && code !== NO_FAILURE)
      throw new Error(`node ${args.slice(1).join(' ')} ended with ${code}`);
  } finally {
    clearInterval(look);
  }
  return { milliseconds: performance.now() - startedAt, peakBytes };
}

/** Reads the highest resident memory of a process ("high water mark"), which Linux records. */
function readPeak(pid: number | undefined): number | null {
  try {
    const kilobytes = /VmHWM:\s{1,20}(\d{1,12}) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}
