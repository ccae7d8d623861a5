import { readFileSync } from 'node:fs';

/** The console's own looks, with what a page that stands alone needs beside them. */
export const REPORT_STYLES = ['base.css', 'charts.css', 'replay-report.css'].map(read).join('\n');

function read(name: string): string {
  const text = readFileSync(new URL(`../browser/${name}`, import.meta.url), 'utf8');
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}
