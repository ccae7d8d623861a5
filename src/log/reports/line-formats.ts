import { z } from 'zod';
import type { Diagnostic } from '../../domain/failure.ts';
import { append } from '../../lib/collections.ts';
import { countIn } from '../../lib/text.ts';
import type { Stretch } from './passages.ts';
import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';

const MAX_TEXT = 20_000;
/** The maximum number of events of a test whose lines are kept for quotation. */
const MAX_STRETCHES = 100;

const Event = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  /** The duration in seconds. */
  Elapsed: z.number().optional(),
  Output: z.string().optional(),
});

interface Running {
  output: string;
  at: number;
  readonly said: Stretch[];
}

interface GoRun {
  readonly source: string;
  readonly draft: ReportDraft;
  /** The running tests by package and test; the package itself has the test ''. */
  readonly running: Map<string, Running>;
  /** Packages in which a named test failed. */
  readonly failed: Set<string>;
  /**
   * The test that a marker in the output names although the events are labeled with another test, by package.
   */
  readonly speakers: Map<string, Speaker>;
}

/** The test that the output names. It applies as long as events have the same other label. */
interface Speaker {
  readonly labelled: string;
  readonly named: string;
}

/** An event and its position. */
interface PlacedEvent extends z.infer<typeof Event> {
  readonly number: number;
  readonly stretch: Stretch;
}

const MAX_LINE = 1_000_000;

/** Checks whether a text is in the format of `go test -json`: one event on each line, with an action. */
export function isGoJson(source: string): boolean {
  return /^[\ufeff\s]{0,100}\{(?:"Time":"[^"\n]{1,60}",)?"(?:Action|ImportPath)":"/.test(source);
}

/**
 * Reads the output of `go test -json` and `gotestsum --jsonfile`. Other lines between the events are skipped;
 * a note states their number.
 */
export function readGoJson(source: string, json: string): ReportDraft {
  const draft = draftReport(source, 'go', { text: json });
  const state: GoRun = { source, draft, running: new Map(), failed: new Set(), speakers: new Map() };
  let others = 0;
  let number = 0;
  for (let start = 0; start < json.length; ) {
    const found = json.indexOf('\n', start);
    const end = found === -1 ? json.length : found;
    number++;
    const event = end - start > MAX_LINE ? null : readEvent(json.slice(start, end));
    if (event !== null) take(state, { ...event, number, stretch: outputIn(json, start, end) });
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

/** Locates the text of an event's output in its line. */
function outputIn(json: string, start: number, end: number): Stretch {
  const field = json.indexOf(OUTPUT, start);
  const first = field === -1 || field >= end ? end : field + OUTPUT.length;
  return { start: first, end: Math.max(first, json.lastIndexOf('"', end)), writing: 'json' };
}

const OUTPUT = '"Output":"';

function take(state: GoRun, event: PlacedEvent): void {
  const { draft, running } = state;
  const { number, stretch } = event;
  if (event.Action === 'build-output') {
    const diagnostic = readDiagnostic(event.Output ?? '');
    if (diagnostic !== null) draft.diagnose(diagnostic, number, stretch);
    return;
  }
  const key = `${event.Package ?? ''}\u0001${event.Test ?? ''}`;
  if (event.Action === 'output') {
    const packageKey = `${event.Package ?? ''}\u0001${findSpeaker(state, event)}`;
    const open = running.get(packageKey) ?? { output: '', at: number, said: [] };
    if (open.output.length < MAX_TEXT) open.output += event.Output ?? '';
    if (open.said.length < MAX_STRETCHES) open.said.push(stretch);
    running.set(packageKey, open);
  } else if (event.Action === 'run') running.set(key, { output: '', at: number, said: [] });
  else if (event.Action === 'pass' || event.Action === 'fail' || event.Action === 'skip') {
    const open = running.get(key);
    running.delete(key);
    if (event.Test === undefined) endPackage(state, event.Package ?? '', open);
    else addTest(state, event, open);
  }
}

/** The marker that names a test in the output of parallel tests. */
const MARK = /^\s{0,40}(?:=== (?:RUN|CONT|NAME|PAUSE)\s{1,10}|--- (?:FAIL|PASS|SKIP): )(?<test>\S{1,1000})/;
/**
 * A stack frame of a panic: `example.test/cart.TestTotal(0xc000…)`, `example.test/cart.TestTotal.func1(…)`.
 */
const FRAME = /^[\w./-]{1,300}\.(?<test>Test\w{1,200})(?:\.func\d{1,4}){0,5}\(/;

/**
 * Returns the test whose output an event contains. Parallel tests share one stream, and go test labels each
 * line with the test that printed last. Markers in the text and the stack frames of a panic name the actual
 * test.
 */
function findSpeaker(
  { running, speakers }: GoRun,
  { Package = '', Test: labelled = '', Output = '' }: PlacedEvent,
): string {
  if (labelled === '') return '';
  const text = Output.slice(0, 2_000);
  const mark = MARK.exec(text)?.groups?.test;
  const frame = mark === undefined ? FRAME.exec(text)?.groups?.test : undefined;
  const isRunning = (test: string) => running.has(`${Package}\u0001${test}`);
  if (mark !== undefined)
    speakers.set(Package, { labelled, named: mark === '' || !isRunning(mark) ? labelled : mark });
  const speaker = speakers.get(Package);
  const named = speaker?.labelled === labelled ? speaker.named : labelled;
  if (frame === undefined || frame === named || named.startsWith(`${frame}/`) || !isRunning(frame))
    return named;
  moveOutput(running, `${Package}\u0001${named}`, `${Package}\u0001${frame}`);
  speakers.set(Package, { labelled, named: frame });
  return frame;
}

/** Moves a panic from the output of one test to that of the test that its stack frame names. */
function moveOutput(running: Map<string, Running>, from: string, to: string): void {
  const [source, target] = [running.get(from), running.get(to)];
  const start = source?.output.search(/^(?:panic: |fatal error: )/m) ?? -1;
  if (source === undefined || target === undefined || start === -1) return;
  const lines = countIn(source.output.slice(start), '\n');
  target.output += source.output.slice(start);
  append(target.said, source.said.splice(Math.max(0, source.said.length - lines)));
  source.output = source.output.slice(0, start);
}

function addTest({ draft, failed }: GoRun, event: PlacedEvent, open: Running | undefined): void {
  if (event.Action === 'fail') failed.add(event.Package ?? '');
  draft.add({
    name: event.Test ?? '',
    suite: event.Package ?? null,
    status: event.Action === 'fail' ? 'failed' : event.Action === 'skip' ? 'skipped' : 'passed',
    durationMs: event.Elapsed === undefined ? null : Math.round(event.Elapsed * 1e6) / 1e3,
    detail: open?.output ?? '',
    at: event.number,
    said: open?.said ?? [],
  });
}

/**
 * Ends a package. A panic or timeout ends a package early, so that running tests have no result: these tests
 * failed, unless a named test failed. Other tests without a result are noted.
 */
function endPackage(
  { source, draft, running, failed }: GoRun,
  suite: string,
  run: Running | undefined,
): void {
  const left = [...running].filter(
    ([key]) => key.startsWith(`${suite}\u0001`) && key.length > suite.length + 1,
  );
  const hasCrashed = [run, ...left.map(([, open]) => open)].some((open) =>
    /^(?:panic: |fatal error: )/m.test(open?.output ?? ''),
  );
  for (const [key, { output, at, said }] of left) {
    const name = key.slice(suite.length + 1);
    running.delete(key);
    const spoken = output === '' && run !== undefined ? run : { output, said };
    if (hasCrashed && !failed.has(suite))
      draft.add({ name, suite, status: 'failed', detail: spoken.output, at, said: spoken.said });
    else draft.note(`${suite}.${name} has no end in ${source}.`);
  }
}

/**
 * Reads an error of Go's compiler or vet, `./cart.go:5:2: undefined: total`. Returns null for any other line.
 */
function readDiagnostic(line: string): Omit<Diagnostic, 'at'> | null {
  const groups =
    /^(?:vet: )?(?<file>[\w./\\-]{1,250}\.go):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,500})/.exec(
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

/** A level of subtests. Its results precede the line of the test that contains them. */
interface Level {
  readonly indent: number;
  readonly title: string | null;
  planned: number | null;
  seen: number;
  failed: boolean;
}

/** A result whose details may follow. */
interface Pending {
  readonly outcome: Outcome;
  readonly isParent: boolean;
  comments: string;
  fields: ReadonlyMap<string, string> | null;
  /** The offsets of its beginning and of the end of its details in the text. */
  readonly start: number;
  end: number;
}

interface TapRun {
  readonly source: string;
  readonly draft: ReportDraft;
  readonly levels: Level[];
  subtest: string | null;
  pending: Pending | null;
}

const RESULT = /^(?<not>not )?ok\b(?: (?<number>\d{1,9}))?(?: ?- | |$)(?<rest>.{0,2000})/;
const PLAN = /^1\.\.(?<count>\d{1,9})\b/;
const MAX_LEVELS = 50;

/**
 * Checks whether a text is a TAP file: its first line that is not a comment is a version, a plan or a result.
 */
export function isTap(text: string): boolean {
  const lines = text
    .slice(0, 20_000)
    .replace(/^\ufeff/, '')
    .split('\n', 200);
  const first =
    lines.find((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))?.trimEnd() ?? '';
  return /^TAP version \d{1,3}$|^1\.\.\d{1,9}(?: #.*)?$|^(?:not )?ok 1\b/.test(first);
}

/** Reads the Test Anything Protocol, versions 12 to 14, with subtests, directives and YAML details. */
export function readTap(source: string, text: string): ReportDraft {
  const draft = draftReport(source, 'tap', { text });
  const state: TapRun = { source, draft, levels: [getNewLevel(0, null)], subtest: null, pending: null };
  const lines = text.split('\n');
  let offset = 0;
  for (let index = 0, read = 0; index < lines.length; index++) {
    for (; read < index; read++) offset += (lines[read]?.length ?? 0) + 1;
    const line = (lines[index] ?? '').slice(0, 10_000).trimEnd();
    const indent = line.length - line.trimStart().length;
    const content = line.slice(indent);
    if (content === '---' && state.pending !== null) {
      index = readYaml(state, lines, index, indent);
      state.pending.end = lines.slice(read, index + 1).reduce((end, { length }) => end + length + 1, offset);
    } else
      readLine(state, content, {
        indent,
        number: index + 1,
        start: offset,
        end: offset + (lines[index]?.length ?? 0),
      });
  }
  flush(state);
  for (const level of state.levels) checkPlan(state, level);
  return state.draft;
}

/** The position of a TAP line. */
interface TapLine {
  readonly indent: number;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

function readLine(state: TapRun, text: string, line: TapLine): void {
  const { indent } = line;
  const result = RESULT.exec(text)?.groups;
  const plan = PLAN.exec(text)?.groups;
  if (result !== undefined) readResult(state, result, line);
  else if (plan !== undefined) getLevelAt(state, indent).planned = Number(plan.count);
  else if (text.startsWith('Bail out!')) {
    const why = text.slice(9).trim();
    state.draft.note(
      `${state.source}: the tests were given up${why === '' ? '' : `: ${why.slice(0, 500)}`}.`,
    );
  } else if (text.startsWith('# Subtest')) {
    getLevelAt(state, indent);
    state.subtest = text.slice(9).replace(/^: ?/, '');
  } else if (text.startsWith('#') && state.pending !== null && state.pending.comments.length < MAX_TEXT) {
    state.pending.comments += `${text.replace(/^#[ \t]?/, '')}\n`;
    state.pending.end = line.end;
  }
}

function readResult(
  state: TapRun,
  groups: Record<string, string | undefined>,
  { indent, number, start, end }: TapLine,
): void {
  flush(state);
  const children = state.levels.at(-1);
  const closed = children !== undefined && children.indent > indent ? children : null;
  if (closed !== null) {
    checkPlan(state, closed);
    state.levels.pop();
  }
  const level = getLevelAt(state, indent);
  state.subtest = null;
  level.seen++;
  const { name, directive } = splitDirective(groups.rest ?? '');
  const failed = groups.not !== undefined && directive === null;
  level.failed ||= failed;
  const titles = state.levels.flatMap(({ title }) => title ?? []);
  const outcome: Outcome = {
    name: name || `test ${groups.number ?? level.seen}`,
    suite: titles.join(' > ') || null,
    status: failed ? 'failed' : directive === null ? 'passed' : 'skipped',
    at: number,
  };
  state.pending = { outcome, isParent: closed?.failed ?? false, comments: '', fields: null, start, end };
}

/** Returns the level of an indentation. If it is new, its title is the last `# Subtest`. */
function getLevelAt(state: TapRun, indent: number): Level {
  while (state.levels.length > 1 && (state.levels.at(-1)?.indent ?? 0) > indent) {
    const left = state.levels.pop();
    if (left !== undefined) checkPlan(state, left);
  }
  const last = state.levels.at(-1);
  if (last !== undefined && (last.indent === indent || state.levels.length >= MAX_LEVELS)) return last;
  flush(state);
  const level = getNewLevel(indent, state.subtest);
  state.subtest = null;
  state.levels.push(level);
  return level;
}

function getNewLevel(indent: number, title: string | null): Level {
  return { indent, title, planned: null, seen: 0, failed: false };
}

function checkPlan({ source, draft }: TapRun, { title, planned, seen }: Level): void {
  if (planned === null || planned === seen) return;
  draft.note(`${source}: ${title ?? 'the plan'} says there are ${planned} tests, ${seen} ran.`);
}

function splitDirective(rest: string): { readonly name: string; readonly directive: string | null } {
  const match = /^(?<name>.*?)\s{0,10}(?<!\\)# ?(?<word>skip|todo)\b/i.exec(rest);
  const groups = match?.groups;
  const name = (groups?.name ?? rest).replace(/ # time=[\d.]{1,20}m?s$/, '');
  return { name: name.replace(/\\([#\\])/g, '$1').trim(), directive: groups?.word?.toLowerCase() ?? null };
}

/** Reads the top-level fields of a YAML block. Returns the index of its last line. */
function readYaml(state: TapRun, lines: readonly string[], start: number, indent: number): number {
  const fields = new Map<string, string>();
  let key = '';
  let index = start + 1;
  for (; index < lines.length && index - start < 2_000; index++) {
    const line = (lines[index] ?? '').slice(0, 10_000).trimEnd();
    const inner = line.slice(indent);
    if (inner === '...' || (line.trim() !== '' && line.length - line.trimStart().length < indent)) break;
    const field = /^(?<key>[A-Za-z_]\w{0,40}):(?: (?<value>.*))?$/.exec(inner)?.groups;
    if (field !== undefined) {
      key = field.key ?? '';
      fields.set(key, unquote(field.value ?? ''));
    } else if (key !== '' && (fields.get(key)?.length ?? 0) < MAX_TEXT)
      fields.set(key, `${fields.get(key)}\n${inner.replace(/^ {2}/, '')}`);
  }
  if (state.pending !== null) state.pending.fields = fields;
  return index;
}

function unquote(value: string): string {
  const plain = value.trim();
  if (/^[|>][+-]?$/.test(plain)) return '';
  const quoted = /^(['"])(.*)\1$/.exec(plain);
  return quoted === null ? plain : (quoted[2] ?? '').replaceAll("''", "'");
}

function flush(state: TapRun): void {
  const { pending, draft } = state;
  state.pending = null;
  if (pending === null) return;
  const { outcome, comments, fields } = pending;
  // A result that only says that its subtests failed is not a test of its own.
  const isParent = pending.isParent || fields?.get('failureType') === 'subtestsFailed';
  if (isParent && outcome.status === 'failed') return;
  const field = (...names: string[]) =>
    names.map((name) => fields?.get(name)?.trim()).find((value) => value) ?? null;
  const place = /^(?<file>.{1,300}?):(?<line>\d{1,7})(?::\d{1,6})?$/.exec(field('location') ?? '')?.groups;
  const duration = Number(field('duration_ms') ?? Number.NaN);
  const passages: Stretch[] =
    outcome.status === 'failed' ? [{ start: pending.start, end: pending.end, writing: 'plain' }] : [];
  draft.add({
    ...outcome,
    said: passages,
    file: place?.file ?? field('file'),
    line: place === undefined ? Number(field('line')) || null : Number(place.line),
    durationMs: Number.isFinite(duration) ? duration : null,
    message: field('error', 'message'),
    detail: `${field('stack', 'at') ?? ''}\n${comments}`.trim(),
    expected: field('expected', 'wanted'),
    actual: field('actual', 'found'),
  });
}
