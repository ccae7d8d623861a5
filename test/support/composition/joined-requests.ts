import { judgeCuriously } from '../../../scripts/parts/bench/curious-judgements.ts';
import { startScriptedModel } from '../../../scripts/parts/bench/scripted-model.ts';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { readConfig } from '../../../src/cli/settings.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { createSparseBuild, type SourceText } from '../../../src/domain/build.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { CapturedPart } from './captured-parts.ts';
import type { Join } from './choose-joins.ts';
import { joinLogs, type PartSpan } from './join-logs.ts';

/** One request to a model: the name of its prompt, and the user message. */
interface SentRequest {
  readonly name: string;
  readonly text: string;
}

/** The requests about one failure, and the parts of the joined log that the failure lies in. */
interface RequestsAboutFailure {
  readonly own: ReadonlySet<CapturedPart>;
  readonly requests: readonly SentRequest[];
}

/** A request about one failure of a joined build. */
export interface JoinedRequest {
  readonly name: string;
  /** The number of the failure in its build, from 0. */
  readonly failure: number;
  /** The number of lines of the log in the request. */
  readonly lines: number;
  /** The lines that belong to another part of the joined log. */
  readonly foreign: readonly ShownLine[];
}

/**
 * Starts an app whose scripted model looks at everything that the tools show of a log. `ask` returns the
 * requests about each failure of a joined build.
 */
export async function openJoinedRequests(dataDirectory: string) {
  const sent: SentRequest[] = [];
  const model = await startScriptedModel({
    latencyMs: 0,
    rounds: 3,
    judge: (body) => {
      const name = body.response_format?.json_schema?.name ?? 'select-tool';
      sent.push({ name, text: body.messages.at(-1)?.content ?? '' });
      return judgeCuriously(body);
    },
  });
  const config = readConfig(dataDirectory, {
    FAULTLINE_ANALYST: 'llm',
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'gpt-4o',
  });
  const app = await createTerminalApp(config, silentLogger);
  const build = {
    ...createSparseBuild({ repository: 'example/mono', pipeline: 'ci', number: '1' }),
    id: 'joined',
    receivedAt: new Date(0).toISOString(),
  };
  return {
    close: () => model.close(),
    ask: async ({ parts, frame }: Pick<Join, 'parts' | 'frame'>): Promise<JoinedRequest[]> => {
      sent.length = 0;
      const { sources, spans } = joinLogs(parts, frame);
      const { analyses } = await app.triage(build, sources, new AbortController().signal);
      return splitByFailure(sent, analyses, spans).flatMap(({ own, requests }, failure) =>
        requests.map((request) => ({
          name: request.name,
          failure,
          lines: listShown(request.text).length,
          foreign: listForeign(request, own, spans, sources),
        })),
      );
    },
  };
}

/** A numbered line of a request. */
interface ShownLine {
  readonly source: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Splits the requests of a build by failure. Each failure begins with the question for its category, and lies
 * in the part with its first excerpt.
 */
function splitByFailure(
  requests: readonly SentRequest[],
  analyses: readonly Pick<Analysis, 'evidence'>[],
  spans: readonly PartSpan[],
): RequestsAboutFailure[] {
  const starts = requests.flatMap(({ name }, at) => (name === 'classify' ? [at] : []));
  return analyses.flatMap(({ evidence }, at) => {
    const ownParts = new Set(findParts(evidence[0], spans));
    const some = requests.slice(starts[at] ?? requests.length, starts[at + 1]);
    return ownParts.size === 0 || some.length === 0 ? [] : [{ own: ownParts, requests: some }];
  });
}

function findParts(excerpt: Evidence | undefined, spans: readonly PartSpan[]): CapturedPart[] {
  const { source, lineStart: first, lineEnd: last = first } = excerpt ?? {};
  if (first === undefined || last === undefined) return [];
  return spans
    .filter((span) => span.source === source && span.lineStart <= last && span.lineEnd >= first)
    .map(({ part }) => part);
}

/** Lists the lines of a request that only another part of the joined log has. */
function listForeign(
  request: SentRequest,
  ownParts: ReadonlySet<CapturedPart>,
  spans: readonly PartSpan[],
  sources: readonly SourceText[],
): ShownLine[] {
  const others = spans.filter(({ part }) => !ownParts.has(part));
  const ownWords = new Set(
    spans.filter(({ part }) => ownParts.has(part)).flatMap((span) => readWords(span, sources)),
  );
  return listShown(request.text).filter(
    ({ source, line, text }) =>
      others.some((span) => span.source === source && line >= span.lineStart && line <= span.lineEnd) &&
      toWords(text) !== '' &&
      !ownWords.has(toWords(text)),
  );
}

function readWords({ source, lineStart, lineEnd }: PartSpan, sources: readonly SourceText[]): string[] {
  const text = sources.find(({ name }) => name === source)?.text ?? '';
  return text
    .split('\n')
    .slice(lineStart - 1, lineEnd)
    .map(toWords);
}

/** Returns the letters of a line without time stamps and numbers, by which equal lines are recognized. */
function toWords(line: string): string {
  return line
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, '')
    .replace(/\P{L}+/gu, ' ')
    .trim();
}

/** Lists the numbered lines of a request with the source that the header above them names. */
function listShown(request: string): ShownLine[] {
  const lines: ShownLine[] = [];
  let source = '';
  for (const row of request.split('\n')) {
    source = /^E\d+[^:]*: source (.+?), lines \d+-\d+ /.exec(row)?.[1] ?? source;
    const [, line, text] = /^(\d+)\| (.*)$/.exec(row) ?? [];
    if (line !== undefined && text !== undefined) lines.push({ source, line: Number(line), text });
  }
  return lines;
}
