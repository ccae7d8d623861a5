import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { FAILED_AS_ASKED } from './exit-code.ts';

/**
 * The oldest version of Node that can run the step. The step runs in a process of its own, so that anything
 * that ends it, such as a lack of memory, is only a warning here. Nothing in this file and its import may
 * need a newer Node than runners have.
 */
const OLDEST_NODE = 20;

if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) startStep();
else warn(`it needs Node ${OLDEST_NODE} or newer, and this runner has ${process.version}`);

function startStep(): void {
  const step = spawn(process.execPath, [fileURLToPath(new URL('./step.mjs', import.meta.url))], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => step.kill(signal));
  step.on('error', (error) => warn(error.message));
  step.on('exit', (code, signal) => {
    if (code === FAILED_AS_ASKED) process.exitCode = 1;
    else if (code !== 0)
      warn(code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}, see above`);
  });
}

function warn(cause: string): void {
  process.stdout.write(`::warning title=Faultline::The action stopped without an answer: ${cause}.\n`);
  const failOn = (process.env['INPUT_FAIL-ON'] || '').split(',').map((word) => word.trim());
  if (failOn.includes('unanswered')) process.exitCode = 1;
}
