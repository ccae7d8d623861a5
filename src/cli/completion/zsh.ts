import { type CompletedCommand, everyCommand, quoted, type Value, whereCases } from './shape.ts';

/** A completion script for zsh: with descriptions, for `source` or as a file `_faultline` in \`$fpath\`. */
export function zshCompletion(program: CompletedCommand): string {
  const commands = everyCommand(program);
  return `#compdef faultline
# Completions of faultline for zsh. Load them with: source <(faultline completion zsh)
_faultline() {
  local where=faultline index current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  local -a found
  for ((index = 2; index < CURRENT; index++)); do
    case "$where \${words[index]}" in
${whereCases(commands)}    esac
  done
  case "$where $previous" in
${commands.flatMap(valueCases).join('')}  esac
  if [[ $current == -* ]]; then
    case "$where" in
${commands.map(optionCase).join('')}    esac
    _describe -o option found
    return
  fi
  case "$where" in
${commands.map(wordCase).join('')}  esac
}
if [[ "\${funcstack[1]}" == _faultline ]]; then _faultline "$@"; else compdef _faultline faultline; fi
`;
}

function valueCases({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    return [`    ${names.map((name) => quoted(`${path} ${name}`)).join('|')}) ${answerOf(value)}return ;;\n`];
  });
}

function answerOf(value: Value): string {
  if (value === null) return '';
  return 'files' in value ? '_files; ' : `compadd -- ${value.words.map(quoted).join(' ')}; `;
}

function optionCase({ path, options }: CompletedCommand): string {
  const found = options.flatMap(({ names, says }) => names.map((name) => described(name, says)));
  return `      ${quoted(path)}) found=(${found.join(' ')}) ;;\n`;
}

function wordCase({ path, commands, argument }: CompletedCommand): string {
  if (commands.length > 0) {
    const found = commands.map(({ name, says }) => described(name, says)).join(' ');
    return `    ${quoted(path)}) found=(${found}); _describe command found ;;\n`;
  }
  return argument === null ? '' : `    ${quoted(path)}) ${answerOf(argument)};;\n`;
}

/** `_describe` takes "word:what it is". */
function described(word: string, says: string): string {
  return quoted(`${word.replaceAll(':', '\\:')}:${says}`);
}
