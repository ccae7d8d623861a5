import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { SourceText } from '../../domain/build.ts';
import { CATEGORIES, type Category } from '../../domain/category.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';

import { type CaseLimits, type CaseOutcome, type CaseTexts, DatasetRow } from './case.ts';
import { findProblem, readDatasetCases, readLog } from './dataset.ts';

/** The file name of the rows of an exported case set. */
export const SET_FILE = 'cases.jsonl';

/** Opens the cases at a path: a JSONL file, an exported case set, or a folder of logs. Throws `not-found`. */
export async function openCases(path: string): Promise<AsyncIterable<CaseOutcome>> {
  const dataset = await findDatasetAt(path);
  return dataset === null ? listFolderCases(path) : readDatasetCases(dataset);
}

/** Returns the JSONL file at a path, or null for a folder of logs. Throws `not-found`. */
export async function findDatasetAt(path: string): Promise<string | null> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new TriageError('not-found', `${path} is neither a file nor a folder.`, { cause });
  });
  if (!found.isDirectory()) return path;
  const inside = await stat(join(path, SET_FILE)).catch(() => null);
  return inside?.isFile() === true ? join(path, SET_FILE) : null;
}

/** A position in a folder tree: the folders below the root, and the label of the nearest category folder. */
interface Place {
  readonly path: string;
  /** The path relative to the root, with `/`; '' for the root itself. */
  readonly inside: string;
  readonly category: Category | null;
  /** The names of the folders that are not categories. */
  readonly project: readonly string[];
}

/** The file that makes a folder a case. The files of such a folder belong to one build. */
const TRUTH = 'truth.json';
const SIDECAR = /\.truth\.json$/;
const GREEN = /^green\./;
/** Names of files that are not logs: descriptions of a folder, and files of file systems. */
const LEFT_OUT = /^(?:\.|readme(?:\.|$))/i;

/**
 * Yields the cases of a folder, by name, one in memory at a time. A folder that contains `truth.json` is one
 * case: its logs and reports belong to one build (`log.*` first), and `green.*` is the log of the passed
 * build before it. Any other file is a case of its own; its labels are in `NAME.truth.json` next to it, or
 * are the category that a folder above it is named after. Links are not followed. Labels that cannot be read
 * become an outcome with an error. `line` counts the cases.
 */
export async function* listFolderCases(root: string): AsyncGenerator<CaseOutcome> {
  let line = 0;
  for await (const found of walk({ path: root, inside: '', category: null, project: [] })) {
    line++;
    const truth = await readTruth(found);
    if ('error' in truth) yield { line, id: found.id, error: truth.error };
    else
      yield {
        line,
        one: {
          row: { project: found.project, ...truth, id: found.id },
          load: (limits) => readTexts(found, limits),
        },
      };
  }
}

interface Found {
  readonly id: string;
  readonly project: string;
  readonly category: Category | null;
  readonly folder: string;
  /** The file names of the logs and reports of the failed build, most informative first. */
  readonly files: readonly string[];
  readonly green: string | null;
  readonly truth: string | null;
}

async function* walk(place: Place): AsyncGenerator<Found> {
  const entries = (await readEntries(place.path)).filter(({ name }) => !LEFT_OUT.test(name));
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  if (files.includes(TRUTH)) yield toFolderCase(place, files);
  else for (const name of files) if (!SIDECAR.test(name)) yield createFileCase(place, name, files);
  for (const entry of entries) if (entry.isDirectory()) yield* walk(createChildPlace(place, entry.name));
}

async function readEntries(path: string): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((cause: unknown) => {
    throw new TriageError('not-found', `The folder ${path} cannot be read: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function createChildPlace(place: Place, name: string): Place {
  const category = CATEGORIES.find((known) => known === name.toUpperCase().replaceAll('-', '_')) ?? null;
  return {
    path: join(place.path, name),
    inside: place.inside === '' ? name : `${place.inside}/${name}`,
    category: category ?? place.category,
    project: category === null ? [...place.project, name] : place.project,
  };
}

function toFolderCase(place: Place, files: readonly string[]): Found {
  const texts = files.filter((name) => name !== TRUTH && !SIDECAR.test(name) && !GREEN.test(name));
  const rank = (name: string) => (name.startsWith('log.') ? 0 : 1);
  const id = place.inside === '' ? basename(place.path) : place.inside;
  return {
    id,
    project: id,
    category: place.category,
    folder: place.path,
    files: texts.sort((left, right) => rank(left) - rank(right)),
    green: files.find((name) => GREEN.test(name)) ?? null,
    truth: TRUTH,
  };
}

/**
 * Creates the case of a file. Its project is the folder that contains it. A file directly in the root, or in
 * a category folder in the root, is a project of its own.
 */
function createFileCase(place: Place, name: string, files: readonly string[]): Found {
  const id = place.inside === '' ? name : `${place.inside}/${name}`;
  const stem = name.replace(/\.(?:gz|zst)$/, '').replace(/\.[^.]{1,10}$/, '');
  return {
    id,
    project: place.project.length === 0 ? id : place.project.join('/'),
    category: place.category,
    folder: place.path,
    files: [name],
    green: null,
    truth: [`${name}.truth.json`, `${stem}.truth.json`].find((file) => files.includes(file)) ?? null,
  };
}

async function readTruth({ folder, truth, category }: Found): Promise<Truth | { readonly error: string }> {
  const label = category === null ? {} : { category };
  if (truth === null) return label;
  try {
    return { ...label, ...parseTruth(truth, await readFile(join(folder, truth), 'utf8')) };
  } catch (error) {
    return { error: `${truth} cannot be read: ${getErrorMessage(error)}` };
  }
}

async function readTexts(
  { id, folder, files, green }: Found,
  { maxBytes, green: wanted }: CaseLimits,
): Promise<CaseTexts> {
  const sources: SourceText[] = [];
  for (const name of files) append(sources, await readLog(join(folder, name), maxBytes));
  if (sources.length === 0) throw new TriageError('invalid-input', `The folder of ${id} contains no log`);
  const greenTexts = wanted && green !== null ? await readLog(join(folder, green), maxBytes) : [];
  return {
    sources,
    greenText: greenTexts.length === 0 ? undefined : greenTexts.map(({ text }) => text).join('\n'),
  };
}

/** The labels of a log in a folder: a row without its id and its log. */
type Truth = Omit<DatasetRow, keyof typeof LOG_FIELDS>;

/** The fields of a row that describe its logs; in a folder, logs are files. */
const LOG_FIELDS = {
  id: true,
  log: true,
  logs: true,
  log_path: true,
  pass_log_path: true,
  report_path: true,
  stack_trace: true,
  snippets: true,
} as const;

/** Aliases of a row's fields in the truth files of captured failures. */
const ALIASES: Readonly<Record<string, string>> = {
  alsoOk: 'also_ok',
  cause: 'root_cause',
  rootCause: 'root_cause',
  mustCite: 'expected_lines',
  expectedLines: 'expected_lines',
  failingTests: 'failing_tests',
  faultyFiles: 'faulty_files',
  requiredMentions: 'required_mentions',
  forbiddenMentions: 'forbidden_mentions',
  capturedAt: 'happened_at',
  happenedAt: 'happened_at',
  decidedBy: 'decided_by',
};

const TestName = z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]);

const TruthFile = DatasetRow.omit(LOG_FIELDS).extend({
  failing_tests: z.array(TestName).nullish(),
});

/**
 * Parses a truth file: the fields of a row under their names or aliases; others are ignored. Returns the
 * error if it is invalid.
 */
function parseTruth(name: string, text: string): Truth | { readonly error: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { error: `${name} is not JSON: ${getErrorMessage(error)}` };
  }
  const object = z.record(z.string(), z.unknown()).safeParse(value);
  if (!object.success) return { error: `${name} is not a JSON object` };
  const written = new Map<string, string>();
  const fields = Object.entries(object.data).map(([key, value]): [string, unknown] => {
    const field = ALIASES[key] ?? key;
    written.set(field, key);
    return [field, value];
  });
  const parsed = TruthFile.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { path, reason } = findProblem(parsed.error, Object.fromEntries(fields));
  const [field = '', ...rest] = path.split('.');
  return { error: `${name}, field ${[written.get(field) ?? field, ...rest].join('.')}: ${reason}` };
}
