import { Command } from 'commander';
import { dataOption, guarded } from './command-parts.ts';
import type { McpCommandOptions } from './mcp-command.ts';

const HELP = `
Agent configuration:
  { "mcpServers": { "faultline": { "command": "faultline", "args": ["mcp"] } } }
A running service also serves MCP at /mcp (Streamable HTTP, bearer token with the role read).`;

/** `faultline mcp`: tools for agents. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .description(
      'Serve tools to an agent over standard input and output (Model Context Protocol): failures, causes, evidence, pasted logs.',
    )
    .option(
      '--url <address>',
      'URL of a running service (default: $FAULTLINE_URL, otherwise the data directory, or the service that uses it)',
    )
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(dataOption())
    .option('--allow-feedback', "let the agent store a person's decisions; without it, access is read-only")
    .addHelpText('after', HELP)
    .action(
      guarded(async (options: McpCommandOptions) => {
        const { runMcp } = await import('./mcp-command.ts');
        await runMcp(options);
      }),
    );
}
