import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createTerminalApp } from '../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { createMaskingOptions } from '../../src/config/masking.ts';
import { Config } from '../../src/config/schema.ts';
import type { NewBuild } from '../../src/domain/build.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { prepareSources, type UploadedFile } from '../../src/service/intake/upload.ts';
import type { TriagedSources } from '../../src/service/triage/triage-build.ts';

/**
 * Path of the knowledge base. Source and bundle are equally deep in the action's checkout, which holds the
 * knowledge base next to them.
 */
const KNOWLEDGE = join(import.meta.dirname, '../../knowledge');
const TIMEOUT_MS = 300_000;

/**
 * Returns the answers of the rules, one per cause. Everything runs on this machine and nothing is sent
 * elsewhere. `workspace` may hold the clone whose history names suspects.
 */
export async function triageHere(
  run: NewBuild,
  files: readonly UploadedFile[],
  workspace: string | null,
): Promise<TriagedSources> {
  // The environment is left out, so that no variable of a job can turn on a model or a server.
  const config = Config.parse(createEmbeddedPreset('', KNOWLEDGE));
  const clones =
    workspace !== null && existsSync(join(workspace, '.git')) ? { [run.repository]: workspace } : {};
  const { sources } = await prepareSources(
    files,
    config.http.maxLogBytes,
    createMasker(createMaskingOptions(config)),
  );
  const app = await createTerminalApp({ ...config, codeHost: { driver: 'local-git', clones } }, silentLogger);
  const build = { ...run, id: 'run', receivedAt: new Date().toISOString() };
  return await app.triage(build, sources, AbortSignal.timeout(TIMEOUT_MS));
}
