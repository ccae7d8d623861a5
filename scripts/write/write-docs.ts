import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Help, type Option } from 'commander';
import { createTerminalApp } from '../../src/app/terminal-app.ts';
import { createProgram } from '../../src/cli/program.ts';
import { readInput } from '../../src/cli/triage/input.ts';
import { createLocalBuild } from '../../src/cli/triage/triage-input.ts';
import { renderBlocks } from '../../src/cli/triage/triage-text.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig, VARIABLES } from '../../src/config/schema.ts';
import { TERMINAL_VARIABLES, type Variable } from '../../src/config/variable.ts';
import { arrangeAnswers, pairWithFailures } from '../../src/notifications/build-answers.ts';
import { METRICS, silentLogger } from '../../src/ports/telemetry.ts';

/**
 * Writes what the code itself knows into the documentation: the settings with their defaults, the help of
 * every command, the metrics, the contents for models, and the answer to one log. `--check` writes nothing
 * and fails if a file is stale.
 */
const HOME = resolve(import.meta.dirname, '../..');
const KEYS = 'analyst.llm.keys.';
const PROVIDER_KEYS = VARIABLES.filter(({ path }) => path.startsWith(KEYS));
const EXAMPLE = 'test/fixtures/failures/exchange-rate-order/log.txt';
const COLUMNS = 100;

const pages: [file: string, fresh: string][] = [
  ['docs/reference/configuration.md', renderConfigurationPage()],
  ['docs/reference/cli.md', renderCommandPage()],
  ['llms.txt', renderContentsForModels()],
  await fillPage('docs/reference/metrics.md', 'metrics', renderMetricsTable),
  await fillPage('README.md', 'example', renderExample),
];

const stale = pages.filter(([file, fresh]) => readText(file) !== fresh);
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is stale; run: node scripts/write/write-docs.ts`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [file, fresh] of stale) writeFileSync(resolve(HOME, file), fresh);
  console.log(
    stale.length === 0 ? 'Everything is fresh.' : `Wrote ${stale.map(([file]) => file).join(', ')}.`,
  );
}

function readText(file: string): string | null {
  const path = resolve(HOME, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/**
 * Replaces the block between the two marks of this name in a handwritten page. Throws if the page lacks a
 * mark.
 */
async function fillPage(
  file: string,
  name: string,
  write: () => string | Promise<string>,
): Promise<[file: string, fresh: string]> {
  const text = readText(file) ?? '';
  const mark = `<!-- ${name}:begin -->`;
  const begin = text.indexOf(mark);
  const end = text.indexOf(`<!-- ${name}:end -->`, begin);
  if (begin === -1 || end === -1)
    throw new Error(`${file} must have the marks ${mark} and <!-- ${name}:end -->`);
  return [file, `${text.slice(0, begin)}${mark}\n${await write()}\n${text.slice(end)}`];
}

/**
 * Renders what `faultline triage` shows in a terminal for one captured failure, without what differs from run
 * to run: seconds and id.
 */
async function renderExample(): Promise<string> {
  const config = parseConfig(createEmbeddedPreset('.faultline', resolve(HOME, 'knowledge')));
  const app = await createTerminalApp(config, silentLogger);
  const sources = await readInput(resolve(HOME, EXAMPLE), config.http.maxLogBytes);
  const { analyses, groups } = await app.triage(createLocalBuild(), sources, AbortSignal.timeout(60_000));
  const alike = analyses.map((analysis) => ({ ...analysis, id: 'ID', milliseconds: 0 }));
  const answers = arrangeAnswers(pairWithFailures(alike, groups));
  const block = renderBlocks(answers, { color: false, width: COLUMNS })
    .replaceAll(' · 0 ms', '')
    .replaceAll(' · ID', '');
  return `\`\`\`console\n$ scripts/faultline triage ${EXAMPLE}\n${block.trimEnd()}\n\`\`\``;
}

function renderConfigurationPage(): string {
  return `${[
    '# Configuration',
    '',
    'Every setting is an environment variable with a default, so nothing has to be set to start. The settings are checked at startup. If one is',
    'wrong, Faultline names it, says what it expects, and does not start. An empty variable counts as unset.',
    '',
    'A secret can also be read from a file, as container platforms mount them: set `NAME_FILE` to its path. Setting both `NAME` and `NAME_FILE`',
    'is an error.',
    '',
    renderConfigurationTable(),
    '',
    '## Variables of the command line',
    '',
    ...formatRows(
      ['variable', 'meaning'],
      TERMINAL_VARIABLES.map(({ name, meaning }) => [formatCode(name), formatCell(meaning)]),
    ),
  ].join('\n')}\n`;
}

function renderMetricsTable(): string {
  const body = Object.entries(METRICS).map(([name, { kind, labels, help }]) => [
    formatCode(name),
    kind,
    Object.keys(labels).map(formatCode).join(', ') || '–',
    formatCell(help),
  ]);
  return formatRows(['metric', 'kind', 'labels', 'meaning'], body).join('\n');
}

function renderConfigurationTable(): string {
  const defaults = parseConfig(createEmbeddedPreset('.faultline', 'knowledge'));
  const body = VARIABLES.flatMap((variable) => {
    if (variable.path.startsWith(KEYS)) return variable === PROVIDER_KEYS[0] ? [renderProviderKeysRow()] : [];
    return [[formatCode(variable.name), formatDefault(variable, defaults), formatMeaning(variable)]];
  });
  return formatRows(['variable', 'default', 'meaning'], body).join('\n');
}

/** Creates the row of the API keys, one of each provider of models. */
function renderProviderKeysRow(): string[] {
  const models = PROVIDER_KEYS.map(({ path }) => `"${path.slice(KEYS.length)}:…"`).join(', ');
  const names = PROVIDER_KEYS.map(({ name }) => formatCode(name)).join(', ');
  return [names, '–', `API keys for models named ${models}. Secret.`];
}

function formatRows(head: readonly string[], body: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
}

function formatDefault({ path }: Variable, defaults: object): string {
  const value = path
    .split('.')
    .reduce<unknown>(
      (tree, part) => (typeof tree === 'object' && tree !== null ? Reflect.get(tree, part) : undefined),
      defaults,
    );
  const nothing =
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  return nothing ? '–' : formatCode(String(value));
}

function formatMeaning({ meaning, secret }: Variable): string {
  return `${formatCell(meaning)}${secret ? ' Secret.' : ''}`;
}

function formatCode(text: string): string {
  return `\`${text}\``;
}

function formatCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function renderCommandPage(): string {
  const commands = listCommands(createProgram(), 'faultline');
  const shared = listSharedOptions(commands.map(({ command }) => command));
  const lead = [
    '# Command line',
    '',
    'The help of every command. Output formats, JSON fields and exit codes: [Terminal output](terminal.md).',
    '',
    'Many commands share these options, which `--help` shows and the sections below leave out:',
    '',
    ...formatRows(
      ['option', 'meaning'],
      [...shared.values()].map(({ flags, description }) => [formatCode(flags), formatCell(description)]),
    ),
  ].join('\n');
  const sections = commands.map(
    ({ path, command }) => `## ${path}\n\n\`\`\`text\n${formatHelp(command, shared).trim()}\n\`\`\``,
  );
  return `${lead}\n\n${sections.join('\n\n')}\n`;
}

/**
 * Creates the contents of the documentation in the form of https://llmstxt.org: the list of all pages, with
 * links from the root.
 */
function renderContentsForModels(): string {
  const [, ...sections] = (readText('docs/README.md') ?? '').split(/^(?=## )/m);
  const lead = [
    '# Faultline',
    '',
    '> Faultline triages failed CI builds: it names the category, the root cause, a fix, suspects, and the exact log lines that prove it.',
    '',
    'In a checkout, `faultline` means `scripts/faultline`. Coding agents use the skill [ci-triage](skills/ci-triage/SKILL.md) or',
    '[MCP](docs/how-to/agents.md). Those who change Faultline itself begin with [AGENTS.md](AGENTS.md).',
  ];
  return `${lead.join('\n')}\n\n${sections.join('').replaceAll('](', '](docs/')}`;
}

type Program = ReturnType<typeof createProgram>;

function listCommands(command: Program, path: string): { path: string; command: Program }[] {
  return [
    { path, command },
    ...command.commands.flatMap((child) => listCommands(child, `${path} ${child.name()}`)),
  ];
}

/** Options that at least five commands have in the same words, by flags and words. */
function listSharedOptions(commands: readonly Program[]): Map<string, Option> {
  const all = commands.flatMap((command) => new Help().visibleOptions(command));
  const often = all.filter(
    (option) => all.filter((other) => createKey(other) === createKey(option)).length >= 5,
  );
  return new Map(often.map((option) => [createKey(option), option]));
}

function createKey({ flags, description }: Option): string {
  return `${flags} ${description}`;
}

/**
 * Formats the output of `--help`, including the texts after it, without the shared options and with a fixed
 * width.
 */
function formatHelp(command: Program, shared: ReadonlyMap<string, Option>): string {
  let help = '';
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => COLUMNS,
    getOutHasColors: () => false,
  });
  command.configureHelp({
    visibleOptions: (subject) =>
      new Help().visibleOptions(subject).filter((option) => !shared.has(createKey(option))),
  });
  command.outputHelp();
  return help;
}
