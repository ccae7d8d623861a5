// First: the other modules need it while they are loaded.
import './node-20.ts';
import { FAILED_AS_ASKED } from './exit-code.ts';
import { runAction } from './run-action.ts';

process.exitCode =
  (await runAction(process.env, (text) => process.stdout.write(text))) === 0 ? 0 : FAILED_AS_ASKED;
