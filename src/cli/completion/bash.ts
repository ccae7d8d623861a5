import { type CompletedCommand, everyCommand, quoted, whereCases } from './shape.ts';

/** A completion script for bash 4 and newer; in 3.2 it completes all but file names. */
export function bashCompletion(program: CompletedCommand): string {
  const commands = everyCommand(program);
  return `# Completions of faultline for bash. Load them with: source <(faultline completion bash)
_faultline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" where=faultline index
  COMPREPLY=()
  # bash parts --option=value into three words.
  if [[ $current == '=' ]]; then current=''; elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$where \${COMP_WORDS[index]}" in
${whereCases(commands)}    esac
  done
  case "$where $previous" in
${commands.flatMap(valueCases).join('')}  esac
  if [[ $current == -* ]]; then
    case "$where" in
${commands.map(({ path, options }) => `      ${quoted(path)}) ${replies(options.flatMap(({ names }) => names))} ;;\n`).join('')}    esac
    return
  fi
  case "$where" in
${commands.map(wordCase).join('')}  esac
}
complete -F _faultline faultline
`;
}

function valueCases({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    const pattern = names.map((name) => quoted(`${path} ${name}`)).join('|');
    const reply = value === null ? '' : 'files' in value ? 'compopt -o default 2>/dev/null; ' : `${replies(value.words)}; `;
    return [`    ${pattern}) ${reply}return ;;\n`];
  });
}

function wordCase({ path, commands, argument }: CompletedCommand): string {
  const words = [...commands.map(({ name }) => name), ...(argument !== null && 'words' in argument ? argument.words : [])];
  const files = argument !== null && 'files' in argument ? 'compopt -o default 2>/dev/null' : '';
  if (words.length === 0 && files === '') return '';
  return `    ${quoted(path)}) ${words.length > 0 ? replies(words) : files} ;;\n`;
}

/** Words of ours hold neither blanks nor patterns. */
function replies(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$current"))`;
}
