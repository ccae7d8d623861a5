import { z } from 'zod';
import type { Diagnostic } from '../../domain/failure.ts';
import { draftReport, type ReportDraft } from './report-draft.ts';

const Event = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  /** Seconds. */
  Elapsed: z.number().optional(),
  Output: z.string().optional(),
});

interface Running {
  output: string;
  at: number;
}

interface State {
  readonly source: string;
  readonly draft: ReportDraft;
  /** By package and test; the package itself has the test ''. */
  readonly running: Map<string, Running>;
  /** Packages with a test that failed by name. */
  readonly failed: Set<string>;
}

const MAX_OUTPUT = 20_000;
const MAX_LINE = 1_000_000;

/** Whether a text is `go test -json`'s: one event a line, each with an action. */
export function isGoJson(source: string): boolean {
  return /^[\ufeff\s]{0,100}\{(?:"Time":"[^"\n]{1,60}",)?"(?:Action|ImportPath)":"/.test(source);
}

/** What `go test -json` and `gotestsum --jsonfile` write. Other lines between the events are left out; a note says how many. */
export function readGoJson(source: string, json: string): ReportDraft {
  const draft = draftReport(source, 'go');
  const state: State = { source, draft, running: new Map(), failed: new Set() };
  let others = 0;
  let number = 0;
  for (let start = 0; start < json.length; ) {
    const found = json.indexOf('\n', start);
    const end = found === -1 ? json.length : found;
    number++;
    const event = end - start > MAX_LINE ? null : readEvent(json.slice(start, end));
    if (event !== null) take(state, event, number);
    else if (json.slice(start, Math.min(end, start + 200)).trim() !== '') others++;
    start = end + 1;
  }
  if (others > 0) draft.note(`${others} lines of ${source} are no events of go test.`);
  for (const suite of new Set(Array.from(state.running.keys(), (key) => key.split('\u0001', 1)[0] ?? ''))) {
    endPackage(state, suite, state.running.get(`${suite}\u0001`));
  }
  return draft;
}

function readEvent(line: string): z.infer<typeof Event> | null {
  if (!line.startsWith('{')) return null;
  try {
    return Event.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

function take(state: State, event: z.infer<typeof Event>, number: number): void {
  const { draft, running } = state;
  if (event.Action === 'build-output') {
    const diagnostic = readDiagnostic(event.Output ?? '');
    if (diagnostic !== null) draft.diagnose(diagnostic, number);
    return;
  }
  const key = `${event.Package ?? ''}\u0001${event.Test ?? ''}`;
  if (event.Action === 'output') {
    const open = running.get(key) ?? { output: '', at: number };
    if (open.output.length < MAX_OUTPUT) open.output += event.Output ?? '';
    running.set(key, open);
  } else if (event.Action === 'run') running.set(key, { output: '', at: number });
  else if (event.Action === 'pass' || event.Action === 'fail' || event.Action === 'skip') {
    const open = running.get(key);
    running.delete(key);
    if (event.Test === undefined) endPackage(state, event.Package ?? '', open);
    else addTest(state, event, open, number);
  }
}

function addTest({ draft, failed }: State, event: z.infer<typeof Event>, open: Running | undefined, number: number): void {
  if (event.Action === 'fail') failed.add(event.Package ?? '');
  draft.add({
    name: event.Test ?? '',
    suite: event.Package ?? null,
    status: event.Action === 'fail' ? 'failed' : event.Action === 'skip' ? 'skipped' : 'passed',
    durationMs: event.Elapsed === undefined ? null : Math.round(event.Elapsed * 1e6) / 1e3,
    detail: open?.output ?? '',
    at: number,
  });
}

/**
 * A panic or a time limit ends a package, and tests that ran then have no end of their own: they are what failed, unless one failed by
 * name. Others without an end are noted.
 */
function endPackage({ source, draft, running, failed }: State, suite: string, own: Running | undefined): void {
  const left = [...running].filter(([key]) => key.startsWith(`${suite}\u0001`) && key.length > suite.length + 1);
  const hasCrashed = [own, ...left.map(([, open]) => open)].some((open) => /^(?:panic: |fatal error: )/m.test(open?.output ?? ''));
  for (const [key, { output, at }] of left) {
    const name = key.slice(suite.length + 1);
    running.delete(key);
    if (hasCrashed && !failed.has(suite)) draft.add({ name, suite, status: 'failed', detail: output || (own?.output ?? ''), at });
    else draft.note(`${suite}.${name} has no end in ${source}.`);
  }
}

/** A complaint of Go's compiler or vet, `./cart.go:5:2: undefined: total`; null for any other line. */
function readDiagnostic(line: string): Omit<Diagnostic, 'at'> | null {
  const groups = /^(?:vet: )?(?<file>[\w./\\-]{1,250}\.go):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,500})/.exec(
    line,
  )?.groups;
  if (groups === undefined) return null;
  const { file = null, line: number, column, message = '' } = groups;
  return {
    tool: 'go',
    severity: 'error',
    file,
    line: Number(number),
    column: column === undefined ? null : Number(column),
    code: null,
    message: message.trim(),
  };
}
