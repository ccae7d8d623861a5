import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createTerminalApp } from '../src/app/terminal-app.ts';
import { readInput } from '../src/cli/input.ts';
import { createProgram } from '../src/cli/program.ts';
import { localBuild, terminalBlocks } from '../src/cli/triage-command.ts';
import { embedded } from '../src/config/presets.ts';
import { parseConfig } from '../src/config/schema.ts';
import type { Variable } from '../src/config/variable.ts';
import { TERMINAL_VARIABLES, VARIABLES } from '../src/config/variables.ts';
import { silentLogger } from '../src/ports/logger.ts';

/**
 * Writes what the code itself knows into the documentation: the table of settings with their defaults, the help of every
 * command, and what it answers to one log. `--check` writes nothing and fails where a file is stale.
 */
const HOME = resolve(import.meta.dirname, '..');
const EXAMPLE = 'test/fixtures/failures/loyalty-customer-null/log.txt';
const COLUMNS = 100;

const table = configurationTable();
const pages: [file: string, fresh: string][] = [
  ['docs/configuration.md', configurationPage()],
  ['docs/cli.md', commandPage()],
];
const readme = textOf('README.md');
if (readme !== null) pages.push(['README.md', between(between(readme, 'configuration', table), 'example', await example())]);

const stale = pages.filter(([file, fresh]) => textOf(file) !== fresh);
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is stale; run: node scripts/write-docs.ts`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [file, fresh] of stale) writeFileSync(resolve(HOME, file), fresh);
  console.log(stale.length === 0 ? 'Everything is fresh.' : `Wrote ${stale.map(([file]) => file).join(', ')}.`);
}

function textOf(file: string): string | null {
  const path = resolve(HOME, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** The text with what stands between the two marks of that name replaced; unchanged where it has no such marks. */
function between(text: string, name: string, fresh: string): string {
  const mark = `<!-- ${name}:begin -->`;
  const begin = text.indexOf(mark);
  if (begin === -1) return text;
  const end = text.indexOf(`<!-- ${name}:end -->`, begin);
  if (end === -1) throw new Error(`README.md has ${mark} but no end of it`);
  return `${text.slice(0, begin)}${mark}\n${fresh}\n${text.slice(end)}`;
}

/** What `faultline triage` shows on a terminal of one captured failure, without what differs from run to run: seconds and id. */
async function example(): Promise<string> {
  const config = parseConfig(embedded('.faultline', resolve(HOME, 'knowledge')));
  const app = await createTerminalApp(config, silentLogger);
  const sources = await readInput(resolve(HOME, EXAMPLE), config.http.maxLogBytes);
  const { analyses } = await app.triage(localBuild(), sources, AbortSignal.timeout(60_000));
  const alike = analyses.map((analysis) => ({ ...analysis, id: 'ID', milliseconds: 0 }));
  const block = terminalBlocks(alike, { color: false, width: COLUMNS }).replaceAll(' · 0 ms', '').replaceAll(' · ID', '');
  return `\`\`\`console\n$ scripts/faultline triage ${EXAMPLE}\n${block.trimEnd()}\n\`\`\``;
}

function configurationPage(): string {
  return `${[
    '# Configuration',
    'Everything has a default: nothing needs to be set to start. Settings come from the environment and are checked together at start;',
    'each wrong one is named, with what it should be, and nothing starts. An empty variable counts as unset.',
    '',
    'A secret may also be given as `NAME_FILE`, the path of a file that holds it (as container platforms mount them); giving both is refused.',
    '',
    table,
    '',
    '## Variables that the terminal reads',
    '',
    ...rows(
      ['variable', 'meaning'],
      TERMINAL_VARIABLES.map(({ name, meaning }) => [code(name), cell(meaning)]),
    ),
  ].join('\n')}\n`;
}

function configurationTable(): string {
  const defaults = parseConfig(embedded('.faultline', 'knowledge'));
  const body = VARIABLES.map((variable) => [code(variable.name), defaultOf(variable, defaults), meaningOf(variable)]);
  return rows(['variable', 'default', 'meaning'], body).join('\n');
}

function rows(head: readonly string[], body: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
}

function defaultOf({ path }: Variable, defaults: object): string {
  const value = path
    .split('.')
    .reduce<unknown>((tree, part) => (typeof tree === 'object' && tree !== null ? Reflect.get(tree, part) : undefined), defaults);
  const nothing = value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  return nothing ? '–' : code(String(value));
}

function meaningOf({ meaning, secret }: Variable): string {
  return `${cell(meaning)}${secret ? ' Secret.' : ''}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function commandPage(): string {
  const program = createProgram();
  const sections = commandsOf(program, 'faultline').map(({ path, help }) => `## ${path}\n\n\`\`\`text\n${help.trim()}\n\`\`\``);
  const lead = [
    '# The command line',
    'Results go to standard output, everything else to standard error. On a terminal the result is a block with colours; in a pipe, with',
    '`--plain`, `NO_COLOR` or `TERM=dumb` it is one `Key<tab>value` a line without any escape; with `--json` one JSON object, errors too:',
    '`{"ok":false,"schema":1,"error":{"code":…,"message":…}}`. Nothing ever ends with exit code 0 and no output.',
    'Ctrl-C ends a run with what is known by then; twice leaves at once.',
  ].join('\n');
  return `${lead}\n\n${sections.join('\n\n')}\n`;
}

type Program = ReturnType<typeof createProgram>;

function commandsOf(command: Program, path: string): { path: string; help: string }[] {
  const own = { path, help: helpOf(command) };
  return [own, ...command.commands.flatMap((child) => commandsOf(child, `${path} ${child.name()}`))];
}

/** What `--help` prints, texts after it included, at one width wherever this runs. */
function helpOf(command: Program): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => COLUMNS, getOutHasColors: () => false });
  command.outputHelp();
  return help;
}
