import { makeDocx, makePdf, makeXlsx } from '../documents.ts';
import type { RetrievalCase } from './cases.ts';

/** The content of a document about one error. */
export interface Entry {
  readonly title: string;
  readonly symptom: string;
  readonly cause: string;
  readonly fix: string;
}

export type RunbookFormat = 'markdown' | 'html' | 'docx' | 'xlsx' | 'pdf' | 'csv' | 'text';

export interface MadeDocument {
  readonly source: string;
  readonly bytes: Buffer;
}

/** Creates documents with two errors each, like runbooks. A table contains all errors. */
export function makeDocuments(format: RunbookFormat, entries: readonly Entry[]): MadeDocument[] {
  if (format === 'xlsx') return [{ source: 'errors.xlsx', bytes: makeXlsx({ Errors: toRows(entries) }) }];
  if (format === 'csv')
    return [{ source: 'errors.csv', bytes: Buffer.from(toRows(entries).map(toCsvLine).join('\r\n')) }];
  const pairs = Array.from({ length: Math.ceil(entries.length / 2) }, (_, at) =>
    entries.slice(2 * at, 2 * at + 2),
  );
  return pairs.map((pair, at) => ({
    source: `runbook-${at + 1}.${ENDINGS[format]}`,
    bytes: MAKERS[format](pair),
  }));
}

/**
 * Returns a document's text on an error: in the error's words, in other words, or about another error of the
 * same tool.
 */
export function toEntry(
  retrievalCase: RetrievalCase,
  how: 'quoted' | 'other words' | 'another error',
): Entry {
  const title = retrievalCase.name.replaceAll('-', ' ');
  if (how === 'another error')
    return {
      title: `About ${retrievalCase.near.cause.split(' ').slice(1, 4).join(' ')}`,
      ...retrievalCase.near,
    };
  return {
    title,
    symptom: how === 'quoted' ? retrievalCase.symptom : retrievalCase.otherWords,
    cause: retrievalCase.cause,
    fix: retrievalCase.fix,
  };
}

const ENDINGS = { markdown: 'md', html: 'html', docx: 'docx', pdf: 'pdf', text: 'txt' } as const;

const MAKERS: Readonly<Record<keyof typeof ENDINGS, (entries: readonly Entry[]) => Buffer>> = {
  markdown: (entries) =>
    Buffer.from(
      `# Runbook\n\n${entries
        .map(
          ({ title, symptom, cause, fix }) =>
            `## ${title}\n\n### Symptoms\n\n\`${symptom}\`\n\n### Cause\n\n${cause}\n\n### Fix\n\n- ${fix}\n`,
        )
        .join('\n')}`,
    ),
  html: (entries) =>
    Buffer.from(
      `<html><head><title>Runbook</title></head><body>${entries
        .map(
          ({ title, symptom, cause, fix }) =>
            `<h1>${escapeHtml(title)}</h1><h2>What you see</h2><pre>${escapeHtml(symptom)}</pre><h2>Root cause</h2><p>${escapeHtml(cause)}</p><h2>What to do</h2><ol><li>${escapeHtml(fix)}</li></ol>`,
        )
        .join('')}</body></html>`,
    ),
  docx: (entries) =>
    makeDocx(
      entries.flatMap(({ title, symptom, cause, fix }) => [
        `# ${title}`,
        `The job prints: ${symptom}`,
        '## Reason',
        cause,
        '## Resolution',
        fix,
      ]),
    ),
  // A document with one paragraph per error, like quick notes.
  text: (entries) =>
    Buffer.from(
      entries
        .map(({ symptom, cause, fix }) => `If the job prints "${symptom}": ${cause} Fix: ${fix}`)
        .join('\n\n'),
    ),
  pdf: (entries) =>
    makePdf(
      entries.map(({ title, symptom, cause, fix }) => [title, symptom, `Cause: ${cause}`, `Fix: ${fix}`]),
    ),
};

function toRows(entries: readonly Entry[]): string[][] {
  return [
    ['Error', 'Area', 'Reason', 'What to do'],
    ...entries.map(({ symptom, cause, fix }) => [symptom, 'platform', cause, fix]),
  ];
}

function toCsvLine(cells: readonly string[]): string {
  return cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
