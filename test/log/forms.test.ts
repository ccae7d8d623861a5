import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeSource } from '../../src/log/decode/decode.ts';
import { readSources } from '../../src/log/read-sources.ts';

/** Captured failures of several tools, in colour and without, of one step and of several. */
const SLUGS = [
  'cart-discount-rounding',
  'invoice-unused-import',
  'kiln-curve-overshoot',
  'ledger-undefined-method',
  'library-late-fee',
  'npm-eresolve',
  'network-terraform-undeclared',
  'receipt-snapshot',
  'route-planner-borrow',
];

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z /;
const text = (slug: string) =>
  readFileSync(join(import.meta.dirname, '../fixtures/failures', slug, 'log.txt'), 'utf8');
const lines = (log: string, change: (line: string, at: number) => string) =>
  log.split('\n').map(change).join('\n');
const untimed = (log: string) => lines(log, (line) => line.replace(TIME, ''));
const escaped = (sign: string) => (log: string) => log.replaceAll('\u001b', sign);

/** Job and step before each line, as `gh run view --log` puts them; the first line of a step has a byte order mark. */
function formatColumns(log: string, named: boolean): string {
  let step = 'Set up job';
  return lines(log.trimEnd(), (line) => {
    const head = /##\[group\](Run .+)$/.exec(line)?.[1];
    step = head ?? step;
    return `build\t${named ? step : 'UNKNOWN STEP'}\t${head === undefined ? '' : '\ufeff'}${line}`;
  });
}

/** What is left where the log is copied off the page. */
function toPageForm(log: string): string {
  const plain = untimed(log).replace(/\u001b\[[\d;]*m/g, '');
  return plain
    .replaceAll('##[error]', 'Error: ')
    .replaceAll('##[group]', '')
    .replaceAll(/^##\[endgroup\]\n/gm, '');
}

/** UTF-8 read by a console in another code page. */
function toCodePage(log: string, label: 'cp437' | 'cp850' | 'windows-1252'): string {
  const marks = { cp437: '∩╗┐', cp850: '´╗┐', 'windows-1252': 'ï»¿' };
  return marks[label] + log.replaceAll('\ufeff', marks[label]);
}

function toUtf16(log: string, isBig: boolean): Buffer {
  const bytes = Buffer.from(log, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
}

const FORMS: Readonly<Record<string, (log: string) => string | Buffer>> = {
  'without times': untimed,
  'a download': (log) => formatColumns(log, true),
  'a download without names of steps': (log) => formatColumns(log, false),
  'the failed step of a download': (log) =>
    formatColumns(log.slice(log.lastIndexOf('##[group]Run ') - 29), true),
  'lines that end in CRLF': (log) => log.replaceAll('\n', '\r\n'),
  'copied off the page': toPageForm,
  'escapes as ^[': escaped('^['),
  'escapes as \\u001b': escaped('\\u001b'),
  'escapes as \\x1b': escaped('\\x1b'),
  'escapes as ␛': escaped('␛'),
  'UTF-8 with its mark': (log) => `\ufeff${log}`,
  'UTF-16 LE with its mark': (log) => toUtf16(`\ufeff${log}`, false),
  'UTF-16 LE': (log) => toUtf16(log, false),
  'UTF-16 BE with its mark': (log) => toUtf16(`\ufeff${log}`, true),
  'UTF-16 BE': (log) => toUtf16(log, true),
  "a download by PowerShell's >, code page 437": (log) =>
    toUtf16(`\ufeff${toCodePage(formatColumns(log, true), 'cp437')}`, false),
  "a download by PowerShell's >, code page 850": (log) =>
    toUtf16(`\ufeff${toCodePage(formatColumns(log, true), 'cp850')}`, false),
  'a mark read as Windows-1252': (log) => toCodePage(log, 'windows-1252'),
  'quoted in a mail': (log) => `The job is red since noon:\n${lines(log, (line) => `> ${line}`)}`,
  'fenced in a chat': (log) =>
    `Please have a look at this one.\n\n\`\`\`text\n${log.trimEnd()}\n\`\`\`\nIt passed yesterday.\n`,
};

function read(form: string | Buffer) {
  const source = decodeSource('log.txt', typeof form === 'string' ? Buffer.from(form) : form, 'log', {
    maxBytes: 50_000_000,
  });
  const { failedSections, failingTests, exceptions, diagnostics } = readSources([source], {
    budgetTokens: 2_000,
  });
  const step = failedSections.at(-1);
  return {
    step: step?.name.replace(/^build \/ /, ''),
    exitCode: step?.exitCode,
    tests: failingTests.map(({ name }) => name),
    said: [...exceptions, ...diagnostics].map(({ message }) => toPageForm(message)),
  };
}

describe('a log in another format', () => {
  it.each(Object.keys(FORMS))('has the same step, the same failing tests and the same errors: %s', (form) => {
    for (const slug of SLUGS) {
      const log = text(slug);
      expect({ slug, ...read(FORMS[form]?.(log) ?? '') }).toEqual({ slug, ...read(log) });
    }
  });
});
