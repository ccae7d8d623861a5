import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { getDataDirectory, readConfig } from '../../../src/cli/settings.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { replayConfig } from '../../../src/replay/commands/answering.ts';
import { answerWith } from '../../../test/support/advice/advise-with.ts';
import { countBadTitles } from '../../../test/support/title-gates.ts';

/**
 * Checks that all titles on the captured failures are short, and that none contains a path of a machine.
 * Takes half a minute.
 */
const config = replayConfig(
  { analyst: 'rules', concurrency: 1, green: false },
  readConfig(getDataDirectory(undefined)),
);
const counts = await countBadTitles(answerWith(await createTerminalApp(config, silentLogger)));
for (const { name, cases, broken } of counts) {
  console.log(`${broken.length === 0 ? 'held  ' : 'FAILED'} ${broken.length} of ${cases} broken: ${name}`);
  for (const sentence of broken) console.log(`         ${sentence}`);
}
if (counts.some(({ broken }) => broken.length > 0)) process.exitCode = 1;
