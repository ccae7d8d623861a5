import type { Command } from 'commander';

/** What may be typed after an option or in an argument's place: a file, one of some words, or anything. */
export type Value = { readonly files: true } | { readonly words: readonly string[] } | null;

/** An option as shells see it. */
export interface CompletedOption {
  /** `--json`, and `-V` where there is a short one. */
  readonly names: readonly string[];
  readonly says: string;
  /** Undefined: it stands alone. */
  readonly value?: Value;
}

/** A command with what may follow it. */
export interface CompletedCommand {
  /** "faultline review list" */
  readonly path: string;
  readonly name: string;
  readonly says: string;
  readonly options: readonly CompletedOption[];
  readonly argument: Value;
  readonly commands: readonly CompletedCommand[];
}

const FILE_VALUE = /<(?:file|dir|path)\b/;
const FILE_ARGUMENT = /^(?:input|files|logs|paths)$/;
const LONGEST = 72;

/** Reads the program itself, so that completions know what it knows. */
export function shapeOf(command: Command, parent = ''): CompletedCommand {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`;
  const help = { names: ['--help', '-h'], says: 'display help for command' };
  return {
    path,
    name: command.name(),
    says: firstWords(command.description()),
    options: [...command.options.map(optionOf), help],
    argument: argumentOf(command),
    commands: command.commands.map((child) => shapeOf(child, path)),
  };
}

/** A command and all below it. */
export function everyCommand(command: CompletedCommand): CompletedCommand[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** In single quotes, as bash and zsh read them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function optionOf({ long, short, flags, description, required, optional, argChoices }: Command['options'][number]): CompletedOption {
  const names = [long, short].flatMap((name) => (name == null ? [] : [name]));
  const says = firstWords(description);
  if (!required && !optional) return { names, says };
  if (argChoices !== undefined) return { names, says, value: { words: argChoices } };
  return { names, says, value: FILE_VALUE.test(flags) ? { files: true } : null };
}

function argumentOf({ registeredArguments }: Command): Value {
  for (const { argChoices, description, name } of registeredArguments.map((one) => ({
    ...one,
    description: one.description,
    name: one.name(),
  }))) {
    if (argChoices !== undefined) return { words: argChoices };
    if (FILE_ARGUMENT.test(name) || /\blog to analyse\b/.test(description)) return { files: true };
  }
  return null;
}

/** The first sentence, on one line. */
function firstWords(text: string): string {
  const [sentence = ''] = text.replaceAll(/\s{1,20}/g, ' ').split(/[.;:] |\.$/, 1);
  return sentence.length <= LONGEST ? sentence : `${sentence.slice(0, LONGEST - 1)}…`;
}

/** Branches of a shell's `case` that follow what was typed from command to command. */
export function whereCases(commands: readonly CompletedCommand[]): string {
  return commands
    .slice(1)
    .map(({ path }) => `      ${quoted(path)}) where=${quoted(path)} ;;\n`)
    .join('');
}
