import type { Reading } from '../../domain/reading.ts';
import { formatCount } from '../../lib/text.ts';
import { isUnknown, showsFailure } from '../../log/fingerprint/failures.ts';
import { createMasker, type Masker } from '../../log/mask/mask.ts';
import { toVisibleLine, toVisibleLines } from '../../notifications/visible-text.ts';
import { maskSources, readMasked } from '../../service/triage/read-build.ts';
import { loadTerminalConfig } from '../command-parts.ts';
import { EXIT, NO_FAILURE, printResult } from '../terminal.ts';
import { type LargeLog, openLargeLog, readInput, readReports } from './input.ts';

export interface ReadCommandOptions {
  readonly junit?: string[];
  readonly green?: string;
  readonly budget: number;
  readonly json?: boolean;
}

/** Runs `faultline read`: shows the facts that are read from the log, before any analysis. */
export async function runRead(path: string, options: ReadCommandOptions): Promise<void> {
  const masker = createMasker();
  const large = await openLargeLog(path, masker);
  try {
    await readAll(path, large, masker, options);
  } finally {
    large?.close();
  }
}

async function readAll(
  path: string,
  large: LargeLog | null,
  masker: Masker,
  options: ReadCommandOptions,
): Promise<void> {
  const { maxLogBytes } = (await loadTerminalConfig()).http;
  const parts = [
    ...(large === null ? await readInput(path, maxLogBytes) : []),
    ...(await readReports(options.junit ?? [], maxLogBytes)),
  ];
  const masked = await maskSources(parts, masker);
  const sources = [...(large === null ? [] : [large.source]), ...masked.sources];
  const secrets = masked.secrets + (large?.secrets ?? 0);
  const green =
    options.green === undefined
      ? undefined
      : (await readInput(options.green, maxLogBytes)).map((source) => source.text).join('\n');
  const reading = readMasked(sources, {
    budgetTokens: options.budget,
    secrets,
    ...(green === undefined ? {} : { greenText: green }),
  });
  const failureFound = showsFailure(reading);
  await printResult(options, { schema: 1, failureFound, ...reading }, renderReading(reading, failureFound));
  if (!failureFound) process.exitCode = EXIT.noFailure;
}

function renderReading(reading: Reading, failureFound: boolean): string {
  const lines = reading.sources.reduce((total, source) => total + source.lines, 0);
  const kept = reading.excerpts.reduce(
    (total, excerpt) => total + excerpt.lineEnd - excerpt.lineStart + 1,
    0,
  );
  const head = [
    ...(failureFound ? [] : [`Result\t${NO_FAILURE}`]),
    `Read\t${lines.toLocaleString('en')} lines → ${kept} kept, ${reading.tokens} ` +
      `tokens, ${formatCount(reading.maskedSecrets, 'secret')} masked`,
    `Fingerprint\t${formatFingerprintLine(reading)}`,
    ...reading.notes.map((note) => `Note\t${toVisibleLine(note)}`),
    ...reading.failingTests.map(
      (test) =>
        `Failed\t${toVisibleLine([test.suite, test.name].filter((part) => part !== null).join(' › '))}`,
    ),
    ...reading.messages
      .slice(0, 10)
      .map((message) => `Message\t${place(message.at)}${toVisibleLine(message.text)}`),
  ];
  return `${head.join('\n')}\n${reading.excerpts.map(renderExcerpt).join('')}`;
}

function formatFingerprintLine({ fingerprint, generic }: Reading): string {
  if (isUnknown(fingerprint)) return 'none: nothing specific enough';
  const name = `${fingerprint.algorithm}/${fingerprint.version} ${fingerprint.value}`;
  return generic
    ? `${name} (which test failed or how it ended, not why; it groups failures, but past answers are ` +
        'not reused)'
    : name;
}

function place(at: { source: string; line: number } | null): string {
  return at === null ? '' : `${at.line}: `;
}

function renderExcerpt(excerpt: Reading['excerpts'][number]): string {
  const width = String(excerpt.lineEnd).length;
  const lines = toVisibleLines(excerpt.text).map(
    (line, index) => `${String(excerpt.lineStart + index).padStart(width)}  ${line}`,
  );
  return (
    `\n── ${toVisibleLine(excerpt.source)} ${excerpt.lineStart}–${excerpt.lineEnd} ` +
    `· ${toVisibleLine(excerpt.reason)}\n${lines.join('\n')}\n`
  );
}
