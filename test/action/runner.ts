import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NoOperationTraceWriter } from '@actions/workflow-parser';
import {
  type ActionTemplate,
  convertActionTemplate,
  parseAction,
} from '@actions/workflow-parser/actions/index';
import { buildAction } from '../../scripts/release/action-bundle/bundle.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What one step gets, as a workflow says it and the runner knows it. */
export interface Step {
  readonly with?: Readonly<Record<string, string>>;
  /** Beside what every run has. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the workspace by path; `$WORKSPACE` in them is its folder. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly event?: object;
  /** Done to the workspace before the step. */
  readonly prepare?: (workspace: string) => void;
}

export interface Command {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/** What the runner made of the step. */
export interface StepResult {
  readonly exitCode: number;
  /** As the job's log shows it: without commands, with masked values hidden. */
  readonly log: string;
  readonly commands: readonly Command[];
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

export interface Runner {
  readonly action: ActionTemplate;
  readonly checkout: string;
  run(step: Step): Promise<StepResult>;
  close(): Promise<void>;
}

type Program = readonly [node: string, entry: string];

const GITHUB = {
  workflow: 'ci',
  job: 'test',
  repository: 'shop/api',
  run_id: '289782451',
  run_number: '812',
  run_attempt: '1',
  actor: 'ada',
  sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
  ref_name: 'main',
  ref_type: 'branch',
  server_url: 'https://github.example.com',
} as const;

/**
 * The runner's contract with a JavaScript action: the action's checkout alone in a folder, `with:` as `INPUT_…` with the defaults of action.yml,
 * files for outputs and the summary, commands on standard output. The bundle is made of the sources, which are what is tried.
 * `node` starts it; `checkout` is the action's folder.
 */
export async function createRunner(node: string = process.execPath): Promise<Runner> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-runner-'));
  await layOutAction(folder);
  const checkout = join(folder, 'action');
  const action = await readAction();
  if (action.runs.using !== 'node24') throw new Error(`the runner has no ${action.runs.using}`);
  const entry = join(checkout, action.runs.main);
  const run = (step: Step) => runStep(folder, action, [node, entry], step);
  return { action, checkout, run, close: () => rm(folder, { recursive: true, force: true }) };
}

let bundled: Promise<Map<string, string>> | undefined;

/** The bundle of the sources, made once for all files of tests that a process runs. */
export async function bundleOnce(): Promise<Map<string, string>> {
  bundled ??= buildAction(ROOT);
  return await bundled;
}

/** Writes what of a release's files the action needs, as `uses: owner/repository/action@commit` finds them. */
export async function layOutAction(folder: string): Promise<void> {
  for (const [name, text] of await bundleOnce()) await put(join(folder, 'action/dist', name), text);
  for (const path of ['action/action.yml', 'knowledge', 'package.json'])
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
}

/** action.yml as GitHub's own parser reads it. Throws where it finds fault. */
export async function readAction(): Promise<ActionTemplate> {
  const content = await readFile(join(ROOT, 'action/action.yml'), 'utf8');
  const { context, value } = parseAction({ name: 'action.yml', content }, new NoOperationTraceWriter());
  const errors = context.errors.getErrors().map(({ message }) => message);
  if (errors.length > 0 || value === undefined) throw new Error(errors.join('\n'));
  return convertActionTemplate(context, value);
}

async function runStep(
  folder: string,
  action: ActionTemplate,
  program: Program,
  step: Step,
): Promise<StepResult> {
  const place = await mkdtemp(join(folder, 'step-'));
  const paths = {
    output: join(place, 'output'),
    summary: join(place, 'summary'),
    event: join(place, 'event.json'),
  };
  const workspace = join(place, 'workspace');
  await mkdir(workspace);
  for (const path of [paths.output, paths.summary]) await put(path, '');
  await put(paths.event, JSON.stringify(step.event ?? {}));
  for (const [path, text] of Object.entries(step.files ?? {}))
    await put(
      join(workspace, path),
      typeof text === 'string' ? text.replaceAll('$WORKSPACE', workspace) : text,
    );
  step.prepare?.(workspace);
  const env = {
    PATH: process.env.PATH,
    ...Object.fromEntries(
      Object.entries(GITHUB).map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, value]),
    ),
    GITHUB_EVENT_PATH: paths.event,
    GITHUB_OUTPUT: paths.output,
    GITHUB_STEP_SUMMARY: paths.summary,
    GITHUB_WORKSPACE: workspace,
    ...readInputs(action, step.with ?? {}),
    ...step.env,
  };
  const { exitCode, stdout } = await execute(program, env, workspace);
  return {
    exitCode,
    ...readLog(stdout),
    outputs: readOutputs(await readFile(paths.output, 'utf8'), action),
    summary: await readFile(paths.summary, 'utf8'),
  };
}

function readInputs(action: ActionTemplate, given: Readonly<Record<string, string>>): Record<string, string> {
  const inputs = action.inputs ?? [];
  const unknown = Object.keys(given).find((name) => !inputs.some(({ id }) => id === name));
  if (unknown !== undefined) throw new Error(`Unexpected input '${unknown}'`);
  return Object.fromEntries(
    inputs.map(({ id, default: byDefault }) => [
      `INPUT_${id.replaceAll(' ', '_').toUpperCase()}`,
      given[id] ?? evaluate(byDefault?.toString() ?? ''),
    ]),
  );
}

/** A default as the parser gives it: a text, `${{ github.job }}`, or `${{ format('{0} / {1}', github.workflow, github.job) }}`. */
function evaluate(value: string): string {
  const [, expression] = /^\$\{\{ (.*) \}\}$/.exec(value) ?? [];
  if (expression === undefined) return value;
  const [, format = '{0}', names = expression] = /^format\('([^']*)', (.*)\)$/.exec(expression) ?? [];
  const context: Readonly<Record<string, string>> = GITHUB;
  return names.split(', ').reduce((text, name, at) => {
    const said = context[name.replace('github.', '')];
    if (said === undefined) throw new Error(`the runner knows no ${name}`);
    return text.replace(`{${at}}`, said);
  }, format);
}

function execute(
  [node, entry]: Program,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<{ exitCode: number; stdout: string }> {
  return new Promise((resolve) => {
    execFile(node, [entry], { env, cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ exitCode, stdout: stdout + stderr });
    });
  });
}

function readLog(stdout: string): Pick<StepResult, 'log' | 'commands'> {
  const commands: Command[] = [];
  const masks: string[] = [];
  const shown: string[] = [];
  for (const line of stdout.split(/\r?\n/)) {
    const [, name, properties = '', message = ''] = /^\s*::([\w-]+)(?: ([^:]*))?::(.*)$/.exec(line) ?? [];
    if (name === undefined) shown.push(line);
    else if (name === 'add-mask') masks.push(decodeText(message));
    else commands.push({ name, properties: readProperties(properties), message: decodeText(message) });
  }
  // Older runners also obey `##[command]` wherever it stands.
  if (shown.some((line) => /##\[|##vso/.test(line)))
    throw new Error('the log holds a command of the old kind');
  const hide = (text: string) => masks.reduce((hidden, mask) => hidden.replaceAll(mask, '***'), text);
  return {
    log: hide(shown.join('\n')),
    commands: commands.map((command) => ({ ...command, message: hide(command.message) })),
  };
}

function readProperties(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), decodeText(pair.slice(pair.indexOf('=') + 1))]),
  );
}

function decodeText(text: string): string {
  return text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%');
}

function readOutputs(text: string, action: ActionTemplate): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  while (lines.length > 0) {
    const line = lines.shift() ?? '';
    if (line === '') continue;
    const [, name, delimiter] = /^([^=]+?)<<(.+)$/.exec(line) ?? [];
    const end = delimiter === undefined ? -1 : lines.indexOf(delimiter);
    if (name === undefined || end < 0) throw new Error(`Invalid format '${line}'`);
    if (!action.outputs?.some(({ id }) => id === name)) throw new Error(`action.yml knows no output ${name}`);
    outputs[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join('\n');
  }
  return outputs;
}

async function put(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
