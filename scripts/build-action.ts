/**
 * Bundles the GitHub Action into action/dist, which is committed: a runner starts it from a checkout of the tree, without any
 * installation. `--check` compares instead and fails when the bundle is older than its sources.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildAction } from './action-bundle/bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'action/dist');
const made = await buildAction(ROOT);
if (process.argv.includes('--check')) {
  const stale = [...made].filter(([name, text]) => readOr(join(DIST, name)) !== text).map(([name]) => name);
  if (stale.length > 0) {
    console.error(`action/dist is not made from its sources (${stale.join(', ')}): run node scripts/build-action.ts`);
    process.exitCode = 1;
  }
} else {
  rmSync(DIST, { recursive: true, force: true });
  for (const [name, text] of made) {
    mkdirSync(dirname(join(DIST, name)), { recursive: true });
    writeFileSync(join(DIST, name), text);
  }
  console.log(readdirSync(DIST).join(' '));
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
