/** One analysis as text for people. Pure: nothing here reads, sends or colours by itself. */
export { renderGithubCommands } from './render-github-commands.ts';
export { renderMarkdown } from './render-markdown.ts';
export { renderPlain } from './render-plain.ts';
export { renderTerminal } from './render-terminal.ts';
