import { Argument, Command } from 'commander';
import { guarded } from './command-parts.ts';
import type { CompletedCommand } from './completion/shape.ts';
import { print } from './terminal.ts';

const HELP = `
Load it now, or every time the shell starts:
  bash   source <(faultline completion bash)            in ~/.bashrc
  zsh    source <(faultline completion zsh)             in ~/.zshrc, after compinit
  fish   faultline completion fish | source             in ~/.config/fish/config.fish`;

/** `faultline completion SHELL`: prints a script, made from the commands themselves. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print a shell script that completes commands, options, values and file names.')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', HELP)
    .action(
      guarded(async (shell: string, _options: object, command: Command) => {
        const { shapeOf } = await import('./completion/shape.ts');
        const program = shapeOf(command.parent ?? command);
        await print(await scriptOf(shell, program));
      }),
    );
}

async function scriptOf(shell: string, program: CompletedCommand): Promise<string> {
  if (shell === 'bash') return (await import('./completion/bash.ts')).bashCompletion(program);
  if (shell === 'zsh') return (await import('./completion/zsh.ts')).zshCompletion(program);
  return (await import('./completion/fish.ts')).fishCompletion(program);
}
