import { Command } from 'commander';
import type { AskCommandOptions } from './ask-command.ts';
import { analystOption, dataOption, guarded, jsonOption } from './command-parts.ts';

const EXAMPLES = `
Examples:
  faultline ask ana_01j… "how did it fail?"
  faultline ask github:812 "what is different from the last green build?"
  faultline ask ana_01j… --resume
  faultline ask build.log "who broke it?" --repo .`;

/** `faultline ask`: follow-up questions, one at a time or in a session. */
export function askCommand(): Command {
  return new Command('ask')
    .description('Ask follow-up questions about an analysis. On a terminal, without a question, opens a session.')
    .argument('<id>', 'ID of an analysis or build (or provider:number), or a log to analyze first; nothing is stored for a log')
    .argument('[question]', 'the question, as one argument')
    .option('--thread <id>', 'continue this thread')
    .option('--resume', 'continue the newest thread about it')
    .option('--repo <dir>', 'with a log: local clone to read code from')
    .addOption(analystOption())
    .option('--url <address>', 'URL of the service (default: the data directory, or the service that uses it)')
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(dataOption())
    .addOption(jsonOption())
    .option('--plain', 'no color, no streaming: one Key<tab>value per line, as in a pipe')
    .addHelpText('after', EXAMPLES)
    .action(
      guarded(async (id: string, question: string | undefined, options: AskCommandOptions) => {
        const { runAsk } = await import('./ask-command.ts');
        await runAsk(id, question, options);
      }),
    );
}
