import { type CompletedCommand, type CompletedOption, everyCommand } from './shape.ts';

/** A completion script for fish, with descriptions. */
export function fishCompletion(program: CompletedCommand): string {
  const commands = everyCommand(program);
  return `# Completions of faultline for fish. Load them with: faultline completion fish | source
function __faultline_at
  set -l where faultline
  for word in (commandline -opc)[2..]
    switch "$where $word"
${commands
  .slice(1)
  .map(({ path }) => `      case ${quoted(path)}\n        set where ${quoted(path)}\n`)
  .join('')}    end
  end
  test "$where" = "$argv"
end
complete -c faultline -f
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, commands, options, argument }: CompletedCommand): string[] {
  const here = `complete -c faultline -n ${quoted(`__faultline_at ${path}`)}`;
  const words = argument !== null && 'words' in argument ? [`${here} -a ${quoted(argument.words.join(' '))}`] : [];
  const files = argument !== null && 'files' in argument ? [`${here} -F`] : [];
  return [
    ...commands.map(({ name, says }) => `${here} -a ${name} -d ${quoted(says)}`),
    ...words,
    ...files,
    ...options.map((option) => `${here}${optionWords(option)} -d ${quoted(option.says)}`),
  ];
}

function optionWords({ names, value }: CompletedOption): string {
  const spelt = names.map((name) => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`)).join('');
  if (value === undefined) return spelt;
  if (value === null) return `${spelt} -x`;
  return 'files' in value ? `${spelt} -r -F` : `${spelt} -x -a ${quoted(value.words.join(' '))}`;
}

/** In single quotes, as fish reads them. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
