import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { basename } from 'node:path';

import { decodeSources } from '../../../src/log/decode/archive.ts';
import { stripEscapes } from '../../../src/log/lines/clean.ts';

/**
 * Lines of ordinary builds, in which `#` becomes a number. As in real logs, about one line in fifty looks
 * like an error.
 */
const ORDINARY = [
  '2026-01-05T10:#:#.#000000Z [INFO] Downloading from central: https://repo.example.org/maven2/org/example/lib-#/1.#.#/lib-#-1.#.#.jar (# kB at # kB/s)',
  '2026-01-05T10:#:#.#000000Z [INFO] Tests run: #, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.# s - in org.example.module#.Service#Test',
  'gcc -DHAVE_CONFIG_H -I. -I../include -O2 -Wall -g -c -o obj/part-#.o ../src/part-#.c',
  '[#/#] Building CXX object src/CMakeFiles/core.dir/unit-#.cpp.o',
  'npm http fetch GET 200 https://packages.example.org/some-package-# #ms (cache miss)',
  '   Compiling serde-like-# v1.#.# (/build/crates/serde-like-#)',
  'test module_#::case_# ... ok',
  'tests/unit/test_module_#.py::TestThing::test_case_# PASSED                 [ #%]',
  '  \u001b[32m✓\u001b[0m renders the component with # rows (# ms)',
  'ok      example.org/team/project/pkg#   0.#s',
  ' ---> Running in #ab#cd#ef',
  'Get:# http://deb.example.org/debian stable/main amd64 libthing# amd64 1.#-# [# kB]',
  'Collecting package-#==2.#.#',
  '10:#:# DEBUG worker-# request # took # ms status=200',
  '-- Looking for header-#.h - found',
];
const COMPLAINTS = [
  'src/part-#.c:#:#: warning: unused variable \u2018tmp#\u2019 [-Wunused-variable]',
  'WARN deprecated package-#@1.#.#: this version is no longer supported',
  '10:#:# ERROR worker-# could not reach cache node #, retrying in # ms',
  'java.lang.IllegalStateException: pool # is closed',
  '\tat org.example.module#.Service.run(Service.java:#)',
  'tests/unit/test_module_#.py::TestThing::test_case_# FAILED                 [ #%]',
];
const COMPLAINT_EVERY = 50;
const PIECE = 1 << 22;

/** Writes about `bytes` of ordinary build output to a file. The same seed gives the same output. */
export function writeGeneratedLog(path: string, bytes: number, seed = 1): void {
  const random = createRandom(seed);
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < bytes; )
      written += writeSync(file, generateText(Math.min(PIECE, bytes - written), random));
  } finally {
    closeSync(file);
  }
}

/** Returns about `bytes` of such a log. */
export function generateLog(bytes: number, seed = 1): string {
  return generateText(bytes, createRandom(seed));
}

function generateText(bytes: number, random: () => number): string {
  const lines: string[] = [];
  for (let length = 0; length < bytes; ) {
    const kind = random() * COMPLAINT_EVERY < 1 ? COMPLAINTS : ORDINARY;
    const line = (kind[Math.floor(random() * kind.length)] ?? '').replaceAll('#', () =>
      String(Math.floor(random() * 60)),
    );
    lines.push(line);
    length += line.length + 1;
  }
  return `${lines.join('\n')}\n`;
}

/** Creates a generator of numbers from 0 to 1 (mulberry32), the same on every machine. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A log that is designed to make a reader slow or to crash it. */
interface HostileLog {
  readonly name: string;
  readonly stretch: string;
}

const BAIT = [
  'error',
  'Exceptio',
  'Traceback (most recent call las',
  'FAILE',
  '--- FAI',
  'npm ERR',
  'AssertionErro',
  'token',
  'password=',
  'eyJ',
  '-----BEGIN ',
];

/** Forms of hostile logs. None contains a failure. */
export const HOSTILE_LOGS: readonly HostileLog[] = [
  { name: 'one line', stretch: 'all of this is one single line of output without any end ' },
  {
    name: 'nested escapes',
    stretch: `${'\u001b[1m\u001b[31m\u001b[4m'.repeat(8)}\u001b]0;title\u001b]8;;${'\u001b['.repeat(20)}x\n`,
  },
  {
    name: 'near-miss bait',
    stretch: `${BAIT.join(' ')} ${'a'.repeat(200)}${'::'.repeat(40)} ${'at '.repeat(30)}(${'('.repeat(30)}\n`,
  },
  { name: 'only carriage returns', stretch: 'downloading 12% of everything there is\r' },
  { name: 'identical lines', stretch: 'ERROR: the same thing happened again\n' },
];

/** Writes about `bytes` of such a log. */
export function writeHostileLog(path: string, log: HostileLog, bytes: number): void {
  const piece = log.stretch.repeat(Math.max(1, Math.ceil(65_536 / log.stretch.length)));
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < bytes; ) written += writeSync(file, piece);
  } finally {
    closeSync(file);
  }
}

/** A log of a corpus: its name, and its text as stored. */
export interface CorpusLog {
  readonly name: string;
  readonly text: string;
}

const MAX_LOG = 2 ** 29;

/**
 * Reads logs, plain, compressed or in archives. Throws TriageError with the name of a file that is not a log.
 */
export async function readCorpus(paths: readonly string[]): Promise<CorpusLog[]> {
  const logs: CorpusLog[] = [];
  for (const path of paths) {
    const sources = await decodeSources(path, readFileSync(path), 'log', { maxBytes: MAX_LOG });
    for (const { text } of sources) logs.push({ name: basename(path), text });
  }
  return logs;
}

/**
 * Writes the logs repeatedly until the file has `bytes`. Terminal escapes are removed, because other programs
 * do not find words that contain them, and the hits must be comparable. Returns the number of bytes written.
 */
export function writeCorpus(path: string, logs: readonly CorpusLog[], bytes: number): number {
  const file = openSync(path, 'w');
  let written = 0;
  try {
    while (written < bytes) {
      for (const { text } of logs)
        written += writeSync(file, `${stripEscapes(text).replaceAll('\u001b', '')}\n`);
    }
  } finally {
    closeSync(file);
  }
  return written;
}
