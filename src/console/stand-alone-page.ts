import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html } from './html.ts';

/** The style sheets of the console that a stand-alone page needs, and its own. */
const REPORT_STYLES = [
  'tokens.css',
  'base.css',
  'controls.css',
  'words.css',
  'lists.css',
  'charts.css',
  'comparison.css',
  'replay-report.css',
]
  .map(read)
  .join('\n');

function read(name: string): string {
  const text = readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8');
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * Renders a whole HTML page around `main` that needs no other file, runs no script, and sends no requests.
 */
export function standAlonePage(title: string, main: Html): string {
  const digest = createHash('sha256').update(REPORT_STYLES).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const head = html`<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer"><title>${title.slice(0, 200)}</title>`;
  // The style comes from our own files. Everything else was escaped by `html`.
  return (
    `<!doctype html>\n<html lang="en"><head>${head.text}<style>${REPORT_STYLES}</style></head>\n` +
    `<body>${main.text}</body></html>\n`
  );
}
