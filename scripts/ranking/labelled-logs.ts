import { join } from 'node:path';
import { extractAll, NET, branchLines, readerMatcher, structureLines } from '../../src/log/extract/run.ts';
import type { Block } from '../../src/log/extract/extraction.ts';
import { openLog, type LogText } from '../../src/log/lines/lines.ts';
import { bytesOfText } from '../../src/log/lines/log-bytes.ts';
import { type Candidates, candidateLines, readCandidates } from '../../src/log/rank/features.ts';
import { scanLog } from '../../src/log/scan/scan-log.ts';
import { readStructure } from '../../src/log/sections.ts';
import { weighBlocks } from '../../src/log/reduce/weigh.ts';
import { datasetCases } from '../../src/replay/cases/dataset.ts';
import { projectOf } from '../../src/replay/cases/project-folds.ts';

/** A labelled log with its candidates. `augmented`: read as if no reader knew its tools. */
export interface LabelledLog {
  readonly id: string;
  readonly set: string;
  readonly project: string;
  readonly language: string | null;
  readonly augmented: boolean;
  readonly log: LogText;
  readonly wanted: readonly (readonly [number, number])[];
  readonly weighed: readonly Block[];
  readonly candidates: Candidates;
  /** Of each candidate: 1 where it tells the cause. */
  readonly labels: Uint8Array;
  /** Candidates to learn from, and how much each counts: the causes of a log together as much as the rest. */
  readonly sampled: readonly number[];
  readonly weights: readonly number[];
}

const SETS = ['actions/actions.jsonl', 'reduce/logchunks.jsonl', 'reduce/cidiff.jsonl', 'reduce/treeherder.jsonl'] as const;
const MOST = 64 * 1024 * 1024;
/** Lines of a log to learn from: those that tell the cause, those beside one, and others. */
const [CAUSES, AROUND, REST] = [60, 4, 150];

/** Every labelled log of the data, read twice: with all readers, and with the general one alone. */
export async function labelledLogs(data: string): Promise<LabelledLog[]> {
  const logs: LabelledLog[] = [];
  for (const set of SETS) {
    for await (const outcome of datasetCases(join(data, set))) {
      if (!('one' in outcome)) continue;
      const { row } = outcome.one;
      const wanted = (row.expected_lines ?? []).map(([start, end]) => [start, end] as const);
      if (wanted.length === 0) continue;
      const { sources } = await outcome.one.load({ maxBytes: MOST, green: false });
      const text = sources[0]?.text ?? '';
      const language = typeof row.language === 'string' ? row.language : null;
      const project = (set.startsWith('actions') ? projectOf(row).split('/')[0] : projectOf(row)) ?? row.id;
      for (const augmented of [false, true])
        logs.push({ id: row.id, set, project, language, augmented, wanted, ...read(text, wanted, augmented) });
    }
  }
  return logs;
}

function read(text: string, wanted: LabelledLog['wanted'], augmented: boolean) {
  const bytes = bytesOfText(text);
  const scan = scanLog(bytes, readerMatcher());
  const log = openLog('log', bytes, scan.index, branchLines(scan));
  const found = extractAll(log, scan, augmented ? NET : null);
  const structure = readStructure(log, structureLines(scan));
  const weighed = weighBlocks(log, found.blocks, structure, null);
  const candidates = readCandidates(log, candidateLines(log, scan.hits, found, structure), found, structure, weighed);
  const labels = Uint8Array.from(candidates.lines, ({ line }) => (wanted.some(([start, end]) => line >= start && line <= end) ? 1 : 0));
  const sampled = sample(labels);
  const positives = sampled.filter((i) => labels[i] === 1).length;
  const weights = sampled.map((i) => (labels[i] === 1 ? 100 / Math.max(1, positives) : 200 / Math.max(1, sampled.length - positives)));
  return { log, weighed, candidates, labels, sampled, weights };
}

/** At most so many causes, what stands around them, and a fixed choice of the rest. */
function sample(labels: Uint8Array): number[] {
  const causes = [...labels.keys()].filter((i) => labels[i] === 1);
  const chosen = new Set(everyNth(causes, CAUSES));
  for (const i of [...chosen]) for (let j = i - AROUND; j <= i + AROUND; j++) if (labels[j] === 0) chosen.add(j);
  for (const i of everyNth([...labels.keys()].filter((i) => labels[i] === 0), REST)) chosen.add(i);
  return [...chosen].sort((a, b) => a - b);
}

function everyNth(items: readonly number[], most: number): number[] {
  const step = Math.max(1, items.length / most);
  return Array.from({ length: Math.min(items.length, most) }, (_, k) => items[Math.floor(k * step)] ?? 0);
}
