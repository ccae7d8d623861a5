import { Command } from 'commander';
import type { AskCommandOptions } from './ask-command.ts';
import { analystOption, dataOption, guarded, jsonOption } from './command-parts.ts';

const EXAMPLES = `
Examples:
  faultline ask ana_01j… "how did it come to fail?"
  faultline ask github:812 "what differs from the last green build?"
  faultline ask ana_01j… --resume
  faultline ask build.log "who broke it?" --repo .`;

/** `faultline ask`: follow-up questions, one at a time or in a session. */
export function askCommand(): Command {
  return new Command('ask')
    .description('Ask about an answer: how it came to fail, what differs, why. On a terminal, without a question, opens a session.')
    .argument('<id>', 'id of an analysis or a build (also provider:number), or a log to analyse first; then nothing is kept')
    .argument('[question]', 'the question, as one argument')
    .option('--thread <id>', 'go on with this thread')
    .option('--resume', 'go on with the newest thread about it')
    .option('--repo <dir>', 'with a log: local clone that may be read')
    .addOption(analystOption())
    .option('--url <address>', 'address of the service (default: the data directory, or whoever serves it)')
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(dataOption())
    .addOption(jsonOption())
    .option('--plain', 'no colour, nothing as it comes: one Key<tab>value a line, as in a pipe')
    .addHelpText('after', EXAMPLES)
    .action(
      guarded(async (id: string, question: string | undefined, options: AskCommandOptions) => {
        const { runAsk } = await import('./ask-command.ts');
        await runAsk(id, question, options);
      }),
    );
}
