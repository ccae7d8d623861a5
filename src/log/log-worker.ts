import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { SourceText } from '../domain/build.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { readCauses } from './causes/read-causes.ts';
import { decodeSources } from './decode/archive.ts';
import { type Surveyed, surveyFiles } from './inventory/inventory.ts';
import { openArtifact } from './inventory/open-artifact.ts';
import { openBytesOfFile } from './lines/bytes.ts';
import { createMasker } from './mask/mask.ts';
import type { ReadableSource } from './read-log.ts';
import { readResults } from './reports/report.ts';
import { LineIndex } from './scan/scan-log.ts';
import { type FromThread, PART, type SentSource, type ToThread } from './worker-pool.ts';

/** The masker of this thread, which masks or reads one log after another. Errors are sent as data. */
const masker = createMasker(workerData);
const parts: (string | Uint8Array)[][] = [];

parentPort?.on('message', async (message: ToThread) => {
  if ('part' in message) {
    parts[message.text] ??= [];
    parts[message.text]?.push(message.part);
    return;
  }
  const given = Array.from({ length: message.texts }, (_, at) => parts[at] ?? []);
  parts.length = 0;
  try {
    if (message.job === 'decode') return await decode(given[0] ?? [], message);
    if (message.job === 'artifact') return await open(given[0] ?? [], message);
    const texts = given.map((all) => all.join(''));
    if (message.job === 'mask') return await mask(texts);
    if (message.job === 'survey') return say({ result: survey(message.sources, texts) });
    if (message.job === 'reports')
      return say({ result: message.names.map((name, at) => readResults(name, texts[at] ?? '')) });
    const sources = message.sources.map((source, at) => openSource(source, texts[at] ?? ''));
    say({ result: readCauses(sources, message.options) });
  } catch (error) {
    const isOurs = error instanceof TriageError;
    say({
      failed: getErrorMessage(error),
      code: isOurs ? error.code : 'internal',
      details: isOurs ? error.details : {},
    });
  }
});

/**
 * Masks the texts. Unchanged texts are not sent back; the others are sent in parts, as they were received.
 */
async function mask(texts: readonly string[]): Promise<void> {
  const masked = await masker.maskAll(texts);
  for (const [text, { text: whole }] of masked.entries())
    if (whole !== texts[text]) await sayText(text, whole);
  say({ result: masked.map(({ text: _text, ...hidden }) => hidden) });
}

async function decode(
  given: readonly (string | Uint8Array)[],
  order: Extract<ToThread, { readonly job: 'decode' }>,
): Promise<void> {
  const sources = await decodeSources(order.name, joinParts(given), order.kind, {
    maxBytes: order.maxBytes,
  });
  say({ result: await sayTexts(sources) });
}

type ArtifactOrder = Extract<ToThread, { readonly job: 'artifact' }>;

async function open(given: readonly (string | Uint8Array)[], order: ArtifactOrder): Promise<void> {
  const { name, room } = order;
  const files = await sayTexts(await openArtifact(name, joinParts(given), room));
  say({ result: { files, room } });
}

function survey(sent: readonly Omit<SourceText, 'text'>[], texts: readonly string[]): Surveyed<number> {
  const sources = sent.map((source, at) => ({ ...source, text: texts[at] ?? '' }));
  const { read, ...rest } = surveyFiles(sources);
  return { ...rest, read: read.map((source) => sources.indexOf(source)) };
}

function joinParts(given: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(given.filter((part) => typeof part !== 'string'));
}

/** Sends the texts, and returns the rest. */
async function sayTexts(sources: readonly SourceText[]): Promise<Omit<SourceText, 'text'>[]> {
  for (const [at, { text }] of sources.entries()) await sayText(at, text);
  return sources.map(({ text: _text, ...source }) => source);
}

async function sayText(text: number, whole: string): Promise<void> {
  let at = 0;
  do {
    say({ text, part: whole.slice(at, at + PART) });
    await nextTurn();
    at += PART;
  } while (at < whole.length);
}

function openSource(source: SentSource, text: string): ReadableSource {
  if (!('file' in source)) return { ...source, text };
  const { name, kind, notes, file, scan } = source;
  const bytes = openBytesOfFile(file);
  return {
    name,
    kind,
    notes,
    bytes,
    ...(scan === null ? {} : { scan: { hits: scan.hits, index: new LineIndex(bytes, scan.index) } }),
  };
}

function say(what: FromThread): void {
  parentPort?.postMessage(what);
}
