/**
 * Bundles the GitHub Action into action/dist, from which a runner starts it without any installation. It is not kept on main, where it would
 * change with nearly every commit: `scripts/release/release-action` makes a tagged commit that carries it.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildAction } from './action-bundle/bundle.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'action/dist');
const made = await buildAction(ROOT);
rmSync(DIST, { recursive: true, force: true });
for (const [name, text] of made) {
  mkdirSync(dirname(join(DIST, name)), { recursive: true });
  writeFileSync(join(DIST, name), text);
}
console.log(readdirSync(DIST).join(' '));
