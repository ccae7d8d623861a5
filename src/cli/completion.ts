import type { Command } from 'commander';

/** The value of an option or argument: a file, one of several words, or any text (null). */
type Value = { readonly files: true } | { readonly words: readonly string[] } | null;

interface CompletedOption {
  /** `--json`, and `-V` if there is a short form. */
  readonly names: readonly string[];
  readonly says: string;
  /** The value of the option; undefined if it takes none. */
  readonly value?: Value;
}

export interface CompletedCommand {
  /** The full name: "faultline review list". */
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

/** Generates the completion script for a shell from the program itself. */
export function generateCompletion(shell: 'bash' | 'zsh' | 'fish', program: Command): string {
  return { bash: generateBashCompletion, zsh: generateZshCompletion, fish: generateFishCompletion }[shell](
    describeCommand(program),
  );
}

/** Describes a command by reading the program itself, so that completions are never out of date. */
export function describeCommand(command: Command, parent = ''): CompletedCommand {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`;
  const help = { names: ['--help', '-h'], says: 'display help for command' };
  return {
    path,
    name: command.name(),
    says: getFirstSentence(command.description()),
    options: [...command.options.map(describeOption), help],
    argument: describeArgument(command),
    commands: command.commands.map((child) => describeCommand(child, path)),
  };
}

export function listEveryCommand(command: CompletedCommand): CompletedCommand[] {
  return [command, ...command.commands.flatMap(listEveryCommand)];
}

/** Puts text in single quotes for bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function describeOption({
  long,
  short,
  flags,
  description,
  required,
  optional,
  argChoices,
}: Command['options'][number]): CompletedOption {
  const names = [long, short].flatMap((name) => (name == null ? [] : [name]));
  const says = getFirstSentence(description);
  if (!required && !optional) return { names, says };
  if (argChoices !== undefined) return { names, says, value: { words: argChoices } };
  return { names, says, value: FILE_VALUE.test(flags) ? { files: true } : null };
}

function describeArgument({ registeredArguments }: Command): Value {
  for (const { argChoices, description, name } of registeredArguments.map((registeredArgument) => ({
    ...registeredArgument,
    description: registeredArgument.description,
    name: registeredArgument.name(),
  }))) {
    if (argChoices !== undefined) return { words: argChoices };
    if (FILE_ARGUMENT.test(name) || /\blog to analyse\b/.test(description)) return { files: true };
  }
  return null;
}

/** Returns the first sentence on one line. */
function getFirstSentence(text: string): string {
  const [sentence = ''] = text.replaceAll(/\s{1,20}/g, ' ').split(/[.;:] |\.$/, 1);
  return sentence.length <= LONGEST ? sentence : `${sentence.slice(0, LONGEST - 1)}…`;
}

/** Formats the branches of a shell's `case` that follow the typed words from command to command. */
function formatCases(commands: readonly CompletedCommand[]): string {
  return commands
    .slice(1)
    .map(({ path }) => `      ${quote(path)}) where=${quote(path)} ;;\n`)
    .join('');
}

/**
 * Generates a completion script for bash 4 and newer. On bash 3.2 it completes everything except file names.
 */
export function generateBashCompletion(program: CompletedCommand): string {
  const commands = listEveryCommand(program);
  return `# Completions of faultline for bash. Load them with: source <(faultline completion bash)
_faultline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" where=faultline index
  COMPREPLY=()
  # bash parts --option=value into three words.
  if [[ $current == '=' ]]; then current=''; elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$where \${COMP_WORDS[index]}" in
${formatCases(commands)}    esac
  done
  case "$where $previous" in
${commands.flatMap(formatBashValues).join('')}  esac
  if [[ $current == -* ]]; then
    case "$where" in
${commands.map(({ path, options }) => `      ${quote(path)}) ${formatReplies(options.flatMap(({ names }) => names))} ;;\n`).join('')}    esac
    return
  fi
  case "$where" in
${commands.map(formatBashWords).join('')}  esac
}
complete -F _faultline faultline
`;
}

function formatBashValues({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    const pattern = names.map((name) => quote(`${path} ${name}`)).join('|');
    const reply =
      value === null
        ? ''
        : 'files' in value
          ? 'compopt -o default 2>/dev/null; '
          : `${formatReplies(value.words)}; `;
    return [`    ${pattern}) ${reply}return ;;\n`];
  });
}

function formatBashWords({ path, commands, argument }: CompletedCommand): string {
  const words = [
    ...commands.map(({ name }) => name),
    ...(argument !== null && 'words' in argument ? argument.words : []),
  ];
  const files = argument !== null && 'files' in argument ? 'compopt -o default 2>/dev/null' : '';
  if (words.length === 0 && files === '') return '';
  return `    ${quote(path)}) ${words.length > 0 ? formatReplies(words) : files} ;;\n`;
}

/** Formats the reply for a list of words. Our words contain neither blanks nor patterns. */
function formatReplies(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W ${quote(words.join(' '))} -- "$current"))`;
}

/**
 * Generates a completion script for zsh with descriptions, for `source` or as the file `_faultline` in
 * `$fpath`.
 */
export function generateZshCompletion(program: CompletedCommand): string {
  const commands = listEveryCommand(program);
  return `#compdef faultline
# Completions of faultline for zsh. Load them with: source <(faultline completion zsh)
_faultline() {
  local where=faultline index current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  local -a found
  for ((index = 2; index < CURRENT; index++)); do
    case "$where \${words[index]}" in
${formatCases(commands)}    esac
  done
  case "$where $previous" in
${commands.flatMap(formatZshValues).join('')}  esac
  if [[ $current == -* ]]; then
    case "$where" in
${commands.map(formatZshOptions).join('')}    esac
    _describe -o option found
    return
  fi
  case "$where" in
${commands.map(formatZshWords).join('')}  esac
}
if [[ "\${funcstack[1]}" == _faultline ]]; then _faultline "$@"; else compdef _faultline faultline; fi
`;
}

function formatZshValues({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    return [
      `    ${names.map((name) => quote(`${path} ${name}`)).join('|')}) ${formatZshAnswer(value)}return ;;\n`,
    ];
  });
}

function formatZshAnswer(value: Value): string {
  if (value === null) return '';
  return 'files' in value ? '_files; ' : `compadd -- ${value.words.map(quote).join(' ')}; `;
}

function formatZshOptions({ path, options }: CompletedCommand): string {
  const found = options.flatMap(({ names, says }) => names.map((name) => formatDescription(name, says)));
  return `      ${quote(path)}) found=(${found.join(' ')}) ;;\n`;
}

function formatZshWords({ path, commands, argument }: CompletedCommand): string {
  if (commands.length > 0) {
    const found = commands.map(({ name, says }) => formatDescription(name, says)).join(' ');
    return `    ${quote(path)}) found=(${found}); _describe command found ;;\n`;
  }
  return argument === null ? '' : `    ${quote(path)}) ${formatZshAnswer(argument)};;\n`;
}

/** Formats an entry for `_describe`: "word:description". */
function formatDescription(word: string, says: string): string {
  return quote(`${word.replaceAll(':', '\\:')}:${says}`);
}

/** Generates a completion script for fish, with descriptions. */
export function generateFishCompletion(program: CompletedCommand): string {
  const commands = listEveryCommand(program);
  return `# Completions of faultline for fish. Load them with: faultline completion fish | source
function __faultline_at
  set -l where faultline
  for word in (commandline -opc)[2..]
    switch "$where $word"
${commands
  .slice(1)
  .map(({ path }) => `      case ${quoteForFish(path)}\n        set where ${quoteForFish(path)}\n`)
  .join('')}    end
  end
  test "$where" = "$argv"
end
complete -c faultline -f
${commands.flatMap(formatFishLines).join('\n')}
`;
}

function formatFishLines({ path, commands, options, argument }: CompletedCommand): string[] {
  const here = `complete -c faultline -n ${quoteForFish(`__faultline_at ${path}`)}`;
  const words =
    argument !== null && 'words' in argument ? [`${here} -a ${quoteForFish(argument.words.join(' '))}`] : [];
  const files = argument !== null && 'files' in argument ? [`${here} -F`] : [];
  return [
    ...commands.map(({ name, says }) => `${here} -a ${name} -d ${quoteForFish(says)}`),
    ...words,
    ...files,
    ...options.map((option) => `${here}${formatFishOption(option)} -d ${quoteForFish(option.says)}`),
  ];
}

function formatFishOption({ names, value }: CompletedOption): string {
  const spelt = names
    .map((name) => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`))
    .join('');
  if (value === undefined) return spelt;
  if (value === null) return `${spelt} -x`;
  return 'files' in value ? `${spelt} -r -F` : `${spelt} -x -a ${quoteForFish(value.words.join(' '))}`;
}

/** Puts text in single quotes for fish. */
function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
