/** One analysis as text for people. Pure: nothing here reads, sends or colours by itself. */
export { renderGithubCommands } from './render-github-commands.ts';
export { renderMarkdown } from './render-markdown.ts';
export { type PlainOptions, renderPlain } from './render-plain.ts';
export { renderTerminal, type TerminalOptions } from './render-terminal.ts';
