import { runAction } from './run-action.ts';

process.exitCode = await runAction(process.env, (text) => process.stdout.write(text));
