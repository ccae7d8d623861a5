import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Judged } from '../charts/confidence.ts';
import { type Html, html } from '../html.ts';

/** The console's own looks, with what a page that stands alone needs beside them. */
const REPORT_STYLES = ['base.css', 'charts.css', 'replay-report.css'].map(read).join('\n');

function read(name: string): string {
  const text = readFileSync(new URL(`../browser/${name}`, import.meta.url), 'utf8');
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

/** What the page of a replay shows. Texts are as they are, masked; the page escapes them. */
export interface ReplayReport {
  /** Version of Faultline. */
  readonly version: string;
  /** When it was made, ISO 8601. */
  readonly madeAt: string;
  /** What the answers depend on: name and value. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly sets: readonly ReportSet[];
  /** Further sections of the whole run, such as bars of a gate, a comparison, or what a judge said. */
  readonly further: readonly ReportSection[];
}

/** One source of cases, replayed once. */
export interface ReportSet {
  readonly name: string;
  /** With what it was replayed, in a line. */
  readonly heading: string;
  /** Why it is not all; null where it is. */
  readonly stopped: string | null;
  readonly sections: readonly ReportSection[];
  /** Stated probabilities and whether they were right; empty where none is labelled. */
  readonly stated: readonly ReportStated[];
  /** What is true of cases, and what was said; in the order of the taxonomy. Empty where nothing is labelled. */
  readonly confusion: readonly ConfusionCell[];
  /** All cases, the most telling first. */
  readonly cases: readonly ReportCase[];
}

export interface ReportStated {
  readonly name: string;
  readonly judged: readonly Judged[];
  /** Above this, an answer is published without a person. */
  readonly threshold: number;
}

export interface ConfusionCell {
  readonly truth: string;
  readonly said: string;
  readonly ids: readonly string[];
}

export interface ReportSection {
  readonly title: string;
  readonly figures: readonly ReportFigure[];
}

export interface ReportFigure {
  readonly name: string;
  /** As people read it: "0.917", "$0.0123". */
  readonly value: string;
  /** "(0.87–0.95)", or empty. */
  readonly interval: string;
  readonly cases: number;
  /** 0..1 for a share, for the shade of its cell; null for others. */
  readonly share: number | null;
  /** Where it stands in a small table of its own. */
  readonly cell: { readonly row: string; readonly column: string } | null;
  /** Ids of the cases that keep it from being better. */
  readonly against: readonly string[];
  readonly isNotable: boolean;
  readonly isJudged: boolean;
}

/** A case in a line; `more` where it has a section of its own. */
export interface ReportCase {
  readonly id: string;
  readonly truth: string | null;
  readonly said: string | null;
  readonly probability: number | null;
  /** Null where nobody knows. */
  readonly isRight: boolean | null;
  readonly error: string | null;
  readonly more: ReportCaseMore | null;
}

export interface ReportCaseMore {
  readonly kind: string | null;
  readonly action: string | null;
  readonly answerConfidence: number | null;
  readonly rootCause: string | null;
  readonly fixRecommendation: string | null;
  /** What people know of it. */
  readonly trueCause: string | null;
  readonly trueFix: string | null;
  readonly quotes: readonly { readonly source: string; readonly line: number; readonly text: string }[];
  readonly tools: readonly { readonly tool: string; readonly status: string }[];
  readonly suspects: readonly { readonly path: string; readonly line: number | null; readonly isTrue: boolean | null }[];
  readonly faultyFiles: readonly string[];
  readonly failingTests: readonly string[];
  readonly excerpts: readonly ReportExcerpt[];
  /** Excerpts that are left out here for their length. */
  readonly moreExcerpts: number;
  readonly seconds: number;
  readonly costUsd: number;
  readonly iterations: number | null;
}

export interface ReportExcerpt {
  readonly source: string;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly reason: string;
  readonly text: string;
}

/** A whole HTML page around `main` that needs no other file, runs no script, and asks nobody for anything. */
export function standAlonePage(title: string, main: Html): string {
  const digest = createHash('sha256').update(REPORT_STYLES).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const head = html`<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>${title.slice(0, 200)}</title>`;
  // The style is our own file: everything else on the page went through `html`.
  return `<!doctype html>\n<html lang="en"><head>${head.text}<style>${REPORT_STYLES}</style></head>\n<body>${main.text}</body></html>\n`;
}
