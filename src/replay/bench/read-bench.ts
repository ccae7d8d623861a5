import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { READER_GROUPS, readerLiterals } from '../../log/extract/run.ts';
import { bytesInMemory } from '../../log/lines/bytes.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { readSources } from '../../log/read-sources.ts';
import { growingScan } from '../../log/scan/scan-log.ts';
import { createLogThreads } from '../../log/threads.ts';
import { type CorpusLog, generatedLog, HOSTILE_LOGS, readCorpus, writeCorpus, writeGeneratedLog, writeHostileLog } from './bench-logs.ts';
import { linesHolding, matchAlone, matchTogether } from './match.ts';
import { costOf, countWith, isInstalled, linesWith, median, mineWithDrain3, SEARCHERS } from './programs.ts';

/** What to measure with. Sizes in bytes. */
export interface ReadBenchOptions {
  /** Logs to match and read; generated ones where there are none. */
  readonly logs: readonly string[];
  readonly matchBytes: number;
  /** Two sizes of generated logs whose memory and time are compared. */
  readonly memoryBytes: readonly [number, number];
  readonly hostileBytes: number;
  readonly rounds: number;
  readonly budgetTokens: number;
  /** A Python with Drain3. */
  readonly python: string;
  /** Arguments that make Node run `faultline read FILE`, the file being added. */
  readonly readCommand: readonly string[];
}

/** One figure, with what it is compared with. */
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

/** Measures reading beside other programs, all in one run, and tells each figure as soon as it is known. */
export async function benchReading(options: ReadBenchOptions, tell: (figure: BenchFigure) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-'));
  try {
    const logs = options.logs.length > 0 ? await readCorpus(options.logs) : generatedCorpus();
    await benchMatching(folder, logs, options, tell);
    await benchWholeRead(folder, logs, options, tell);
    await benchMemory(folder, options, tell);
    await benchHostile(folder, options, tell);
    await benchEventLoop(options, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function generatedCorpus(): CorpusLog[] {
  return Array.from({ length: GENERATED_LOGS }, (_, i) => ({ name: `generated ${i + 1}`, text: generatedLog(GENERATED_BYTES, i + 1) }));
}

async function benchMatching(folder: string, logs: readonly CorpusLog[], options: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const file = join(folder, 'corpus.log');
  const patterns = join(folder, 'patterns.txt');
  // ripgrep ignores the case of ASCII letters only where all of its patterns are ASCII.
  const literals = readerLiterals().filter((literal) => /^[ -~]+$/.test(literal));
  const size = writeCorpus(file, logs, options.matchBytes) / MEGA;
  writeFileSync(patterns, `${literals.join('\n')}\n`);
  const peers = SEARCHERS.filter(({ command }) => isInstalled(command));
  const times = new Map<string, number[]>();
  const note = (name: string, milliseconds: number) => times.set(name, [...(times.get(name) ?? []), milliseconds]);
  matchAlone(file, literals);
  for (let round = 0; round < options.rounds; round++) {
    note('one thread', matchAlone(file, literals).milliseconds);
    note('two threads', (await matchTogether(file, literals, 2)).milliseconds);
    for (const peer of peers) note(peer.name, countWith(peer, patterns, file).milliseconds);
  }
  const speed = (name: string) => (size * 1000) / median(times.get(name) ?? []);
  const of = `${literals.length} literals, ${size.toFixed(0)} MB, median of ${options.rounds}`;
  for (const name of times.keys()) tell({ name: `matching: ${name}`, value: speed(name), unit: 'MB/s', note: of });
  for (const { name } of peers) {
    tell({ name: `matching: one thread to ${name}`, value: speed('one thread') / speed(name), unit: '×' });
    tell({ name: `matching: two threads to ${name}`, value: speed('two threads') / speed(name), unit: '×' });
  }
  for (const peer of peers.slice(0, 1)) {
    const differing = await differences(linesHolding(file, literals), linesWith(peer, patterns, file));
    tell({
      name: `matching: lines that differ from ${peer.name}`,
      value: differing,
      unit: 'lines',
      note: `of ${matchAlone(file, literals).lines} hits`,
    });
  }
}

/** How many lines only one of two ascending lists holds. */
async function differences(left: Iterator<number>, right: AsyncIterator<number>): Promise<number> {
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

async function benchWholeRead(folder: string, logs: readonly CorpusLog[], options: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const masker = createMasker();
  const inMemory = logs.map(({ name, text }) => ({ name, bytes: bytesInMemory(Buffer.from(text)) }));
  const size = logs.reduce((total, { text }) => total + Buffer.byteLength(text), 0) / MEGA;
  const seconds: number[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const startedAt = performance.now();
    for (const { name, bytes } of inMemory) {
      const pieces: Buffer[] = [];
      const { scan, add } = growingScan(bytes, READER_GROUPS.length);
      const hidden = await masker.maskPieces(bytes, (piece) => pieces.push(Buffer.from(piece)), { groups: READER_GROUPS, add });
      const masked = hidden === 0 ? { bytes, scan } : { bytes: bytesInMemory(Buffer.concat(pieces)) };
      readSources([{ name, kind: 'log', notes: [], ...masked }], { budgetTokens: options.budgetTokens });
    }
    // The first round warms up.
    if (round > 0) seconds.push((performance.now() - startedAt) / 1000);
  }
  const speed = size / median(seconds);
  const of = `${logs.length} logs, ${size.toFixed(0)} MB, ${options.budgetTokens} tokens each, median of ${options.rounds}`;
  tell({ name: 'whole read, one thread', value: speed, unit: 'MB/s', note: of });
  const sample = join(folder, 'sample.log');
  const bytes = writeCorpus(sample, firstOf(logs, DRAIN_BYTES), 1);
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

/** Logs of about so many bytes in all, spread over the corpus. */
function firstOf(logs: readonly CorpusLog[], bytes: number): CorpusLog[] {
  const share = Math.max(1_000, Math.floor(bytes / logs.length));
  return logs.map(({ name, text }) => ({ name, text: text.slice(0, share) }));
}

async function benchMemory(folder: string, options: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const run = async (name: string, bytes: number) => {
    const file = join(folder, name);
    writeGeneratedLog(file, bytes);
    const cost = await costOf([...options.readCommand, file]);
    rmSync(file);
    return { ...cost, megabytes: bytes / MEGA };
  };
  const idle = await run('idle.log', 1_000);
  const [small, large] = [await run('small.log', options.memoryBytes[0]), await run('large.log', options.memoryBytes[1])];
  for (const { megabytes, milliseconds, peakBytes } of [small, large]) {
    const name = `faultline read, ${megabytes.toFixed(0)} MB`;
    tell({ name, value: (megabytes * 1000) / milliseconds, unit: 'MB/s', note: 'with starting the program' });
    if (peakBytes !== null && idle.peakBytes !== null) {
      const above = `above the ${(idle.peakBytes / MEGA).toFixed(0)} MB of reading one kilobyte`;
      tell({ name: `${name}: peak memory`, value: (peakBytes - idle.peakBytes) / MEGA, unit: 'MB', note: above });
    }
  }
  const linear = large.milliseconds / (small.milliseconds * (large.megabytes / small.megabytes));
  tell({ name: 'time of the larger to that of the smaller, a megabyte', value: linear, unit: '×' });
}

async function benchHostile(folder: string, options: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const file = join(folder, 'hostile.log');
  const timeOf = async () => (await costOf([...options.readCommand, file])).milliseconds / (statSync(file).size / MEGA);
  writeGeneratedLog(file, options.hostileBytes);
  const normal = await timeOf();
  for (const log of HOSTILE_LOGS) {
    writeHostileLog(file, log, options.hostileBytes);
    tell({ name: `hostile: ${log.name}, time a megabyte`, value: (await timeOf()) / normal, unit: '×', note: 'to a generated log' });
  }
}

/** How long anybody else has to wait at most while a log is masked and read in threads, as the service does it. */
async function benchEventLoop({ hostileBytes, budgetTokens }: ReadBenchOptions, tell: (figure: BenchFigure) => void) {
  const threads = createLogThreads({ small: 0 });
  const line = 'error: failed\n';
  // Of bytes: a repeated text would be put together when its first part is sent.
  const text = Buffer.alloc(hostileBytes, line).toString('latin1');
  await threads.masker.maskAll([line]);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  try {
    const [masked] = await threads.masker.maskAll([text]);
    await threads.read([{ name: 'hostile', kind: 'log', text: masked?.text ?? '', notes: [] }], { budgetTokens });
  } finally {
    delay.disable();
    await threads.close();
  }
  const note = `masking and reading ${(hostileBytes / MEGA).toFixed(0)} MB of one line in threads`;
  tell({ name: 'event loop: longest gap', value: delay.max / 1e6, unit: 'ms', note });
}
