import { Command } from 'commander';
import { dataOption, guarded } from './command-parts.ts';
import type { McpCommandOptions } from './mcp-command.ts';

const HELP = `
For an agent's configuration:
  { "mcpServers": { "faultline": { "command": "faultline", "args": ["mcp"] } } }
A running service also answers at its address, path /mcp (Streamable HTTP, bearer token with the role read).`;

/** `faultline mcp`: tools for agents. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .description(
      'Serve tools to an agent over standard input and output (Model Context Protocol): failures, causes, evidence, pasted logs.',
    )
    .option('--url <address>', 'address of a running service (default: $FAULTLINE_URL, else the data directory, or whoever serves it)')
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(dataOption())
    .option('--allow-feedback', 'also let the agent store what a person decided; without it nothing can be changed')
    .addHelpText('after', HELP)
    .action(
      guarded(async (options: McpCommandOptions) => {
        const { runMcp } = await import('./mcp-command.ts');
        await runMcp(options);
      }),
    );
}
