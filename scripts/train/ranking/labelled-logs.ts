import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { findMin } from '../../../src/lib/collections.ts';
import type { Block, Extraction } from '../../../src/log/extract/extraction.ts';
import {
  extractAll,
  filterFailedSteps,
  listToolReaders,
  openScanned,
  readCiStructure,
} from '../../../src/log/extract/run.ts';
import { toLogBytes } from '../../../src/log/lines/bytes.ts';
import type { LogText } from '../../../src/log/lines/lines.ts';
import { type Candidate, type Candidates, FACTS, readCandidates } from '../../../src/log/rank/features.ts';
import { weighBlocks } from '../../../src/log/reduce/reduce.ts';
import type { Structure } from '../../../src/log/sections.ts';
import { resolveProject } from '../../../src/replay/cases/case.ts';
import { readDataset, readTexts } from '../../../src/replay/cases/dataset.ts';
import { HARMLESS, type HarmlessKind } from '../../../test/support/harmless-lines.ts';
import { inventLogs } from '../../../test/support/invented-tools.ts';
import { isLearned, withHarmless } from '../../../test/support/reading-gates.ts';

/**
 * A labeled log with its candidates. `augmented` is true if it was read without the readers of specific
 * tools.
 */
export interface LabelledLog {
  readonly id: string;
  readonly set: string;
  readonly project: string;
  readonly language: string | null;
  readonly augmented: boolean;
  /** True if it is the same log with another harmless line. It is used for training, but not measured. */
  readonly again: boolean;
  readonly log: LogText;
  readonly wanted: readonly (readonly [number, number])[];
  readonly found: Extraction;
  readonly structure: Structure;
  readonly weighed: readonly Block[];
  readonly candidates: Candidates;
  /** The numbers of inserted lines. */
  readonly inserted: readonly number[];
  /** The labels of the candidates: 1 for each that states the cause. */
  readonly labels: Uint8Array;
  /**
   * The candidates for training with their weights. The causes of a log together have as much weight as the
   * others.
   */
  readonly sampled: readonly number[];
  readonly weights: readonly number[];
}

/**
 * Data sets whose labels are the first failure, so that earlier lines are harmless. They are not used to
 * learn which lines prove a cause, except for these harmless lines.
 */
const HARMLESS_FROM: ReadonlySet<string> = new Set(['reduce/logchunks.jsonl']);
const SETS = [
  'actions/actions.jsonl',
  'reduce/logchunks.jsonl',
  'reduce/cidiff.jsonl',
  'reduce/treeherder.jsonl',
] as const;
const MOST = 64 * 1024 * 1024;
/**
 * The maximum numbers of lines of a log for training: those that state the cause, their neighbors, and
 * others.
 */
const [CAUSES, AROUND, REST] = [60, 4, 150];

/**
 * Reads every labeled log of the data, our captured failures, and half of the invented logs. Each is read
 * twice: with all readers, and only with the general one.
 */
export async function readLabeledLogs(data: string): Promise<LabelledLog[]> {
  const logs: LabelledLog[] = [];
  for (const set of SETS) {
    for await (const outcome of readDataset(join(data, set))) {
      if (!('row' in outcome)) continue;
      const { row } = outcome;
      const wanted = (row.expected_lines ?? []).map(([start, end]) => [start, end] as const);
      if (wanted.length === 0) continue;
      const { sources } = await readTexts(row, join(data, set), { maxBytes: MOST, green: false });
      const text = sources[0]?.text ?? '';
      const language = z.object({ language: z.string() }).safeParse(outcome.value).data?.language ?? null;
      const project =
        (set.startsWith('actions') ? resolveProject(row).split('/')[0] : resolveProject(row)) ?? row.id;
      for (const augmented of [false, true])
        logs.push({
          id: row.id,
          set,
          project,
          language,
          augmented,
          again: false,
          wanted,
          inserted: [],
          ...read(text, wanted, augmented),
        });
    }
  }
  return [...readCapturedLogs(listHarmless(logs)), ...inventHalf(), ...logs];
}

/**
 * The maximum number of harmless lines from logs, and their minimum distance before the first labeled line.
 */
const [FOUND, IN_FRONT] = [1_500, 30];

/**
 * Returns lines with error words or remarks that occur long before the failure. They are real lines of more
 * tools than a generator knows.
 */
function listHarmless(logs: readonly LabelledLog[]): HarmlessKind[] {
  const severity = FACTS.indexOf('severity');
  const texts = logs.flatMap(({ set, augmented, candidates: { lines, facts }, wanted, sampled }) => {
    if (augmented || !HARMLESS_FROM.has(set)) return [];
    const [first, taught] = [findMin(wanted.map(([start]) => start)), new Set(sampled)];
    const isHarmless = ({ line, role }: Candidate, i: number) =>
      line < first - IN_FRONT &&
      !taught.has(i) &&
      (role === 'notice' || (role === 'cause' && (facts[i * FACTS.length + severity] ?? 0) > 0));
    return lines.filter(isHarmless).map(({ text }) => text.slice(0, 400));
  });
  const unlike = new Map(texts.map((text) => [text.replace(/\d+/g, '0'), text]));
  return selectEveryNth([...unlike.values()], FOUND).map((text) => ({ name: 'found', lines: [text] }));
}

const FIXTURES = new URL('../../../test/fixtures/', import.meta.url).pathname;
const Truth = z.object({
  tool: z.string().optional(),
  mustCite: z.array(z.tuple([z.int(), z.int()])).optional(),
  telling: z.array(z.tuple([z.int(), z.int()])).optional(),
  heldOut: z.boolean().default(false),
});

/**
 * Reads our captured failures, except those held back, each time with another harmless line of the training
 * half.
 */
function readCapturedLogs(found: readonly HarmlessKind[]): LabelledLog[] {
  return ['failures', 'tools'].flatMap((set) => {
    const slugs = readdirSync(join(FIXTURES, set), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    return slugs.flatMap(({ name }, i) => {
      const truth = Truth.parse(JSON.parse(readFileSync(join(FIXTURES, set, name, 'truth.json'), 'utf8')));
      if (truth.heldOut) return [];
      const text = readFileSync(join(FIXTURES, set, name, 'log.txt'), 'utf8');
      const wanted = truth.telling ?? truth.mustCite ?? [];
      const project = truth.tool ?? name;
      return Array.from({ length: 2 * HARMLESS_EACH }, (_, k) => {
        const [augmented, again] = [k % 2 === 1, k >> 1];
        const kinds = again % 2 === 0 ? LEARNED : found;
        const kind = kinds[
          ((i * 7 + (k % 2) * 3 + again * 29) * (again % 2 === 0 ? 1 : 37)) % kinds.length
        ] ?? { name: '', lines: [] };
        const noisy = withHarmless({ text, telling: wanted }, kind, i + again * 1_009);
        const own = {
          id: `${set}/${name}`,
          set,
          project,
          language: project,
          augmented,
          again: again > 0,
          wanted: noisy.telling,
          inserted: noisy.harmlessAt,
        };
        return { ...own, ...read(noisy.text, noisy.telling, augmented) };
      });
    });
  });
}

/**
 * The number of times that each captured failure is read with another harmless line. Then the number of
 * invented logs, of which half repeat tools, and the number of measured ones.
 */
const [HARMLESS_EACH, INVENTED, MEASURED] = [6, 1_500, 112];

/** The harmless kinds with even numbers are for training. The gates use the others. */
const LEARNED = HARMLESS.filter((_, i) => i % 2 === 0);

function inventHalf(): LabelledLog[] {
  const even = inventLogs(INVENTED, 1).filter(
    ({ name }) => isLearned(name) && LEARNED.some((kind) => name.endsWith(` with ${kind.name}`)),
  );
  return even.map(({ name, lines, telling, harmlessAt }, i) => {
    const wanted = telling.map((line) => [line, line] as const);
    const tool = name.split(' with ')[0] ?? name;
    const own = {
      id: `invented/${i}`,
      set: 'invented',
      project: tool,
      language: tool,
      augmented: false,
      again: i >= MEASURED,
      wanted,
      inserted: harmlessAt,
    };
    return { ...own, ...read(lines.join('\n'), wanted, false) };
  });
}

function read(text: string, wanted: LabelledLog['wanted'], augmented: boolean) {
  const opened = openScanned('log', toLogBytes(text));
  const { log } = opened;
  const structure = readCiStructure(opened);
  const found = filterFailedSteps(
    log,
    extractAll(opened, augmented ? listToolReaders() : undefined),
    structure,
  );
  const weighed = weighBlocks(log, found.blocks, structure, null);
  const candidates = readCandidates({ log, hits: opened.scan.hits, found, structure }, weighed);
  const labels = Uint8Array.from(candidates.lines, ({ line }) =>
    wanted.some(([start, end]) => line >= start && line <= end) ? 1 : 0,
  );
  const sampled = sample(labels);
  const positives = sampled.filter((i) => labels[i] === 1).length;
  const weights = sampled.map((i) =>
    labels[i] === 1 ? 100 / Math.max(1, positives) : 200 / Math.max(1, sampled.length - positives),
  );
  return { log, found, structure, weighed, candidates, labels, sampled, weights };
}

/** Samples causes, their neighbors, and a fixed choice of the other lines. */
function sample(labels: Uint8Array): number[] {
  const causes = [...labels.keys()].filter((i) => labels[i] === 1);
  const chosen = new Set(selectEveryNth(causes, CAUSES));
  for (const i of [...chosen])
    for (let j = i - AROUND; j <= i + AROUND; j++) if (labels[j] === 0) chosen.add(j);
  for (const i of selectEveryNth(
    [...labels.keys()].filter((i) => labels[i] === 0),
    REST,
  ))
    chosen.add(i);
  return [...chosen].sort((a, b) => a - b);
}

function selectEveryNth<T>(items: readonly T[], most: number): T[] {
  const step = Math.max(1, items.length / most);
  return Array.from({ length: Math.min(items.length, most) }, (_, k) => Math.floor(k * step)).flatMap(
    (i) => items[i] ?? [],
  );
}
