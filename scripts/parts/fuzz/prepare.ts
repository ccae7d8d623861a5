import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { listReaderLiterals } from '../../../src/log/extract/run.ts';
import { STRUCTURE_LITERALS } from '../../../src/log/sections.ts';
import { CheckRunEvent, WorkflowJobEvent, WorkflowRunEvent } from '../../../src/providers/github/webhook.ts';
import { GenericEvent, NotificationEvent } from '../../../src/providers/jenkins/webhook.ts';
import { JsonUpload } from '../../../src/service/intake/upload.ts';
import { makeTar } from '../../../test/support/make-tar.ts';
import { makeZip } from '../../../test/support/make-zip.ts';
import { createGithubExample } from '../../../test/support/webhook-senders.ts';

/** `node scripts/parts/fuzz/prepare.ts TARGET FOLDER`: bundles the target as JavaScript, which the fuzzer can instrument, and writes its seeds and words. */

const ROOT = join(import.meta.dirname, '../../..');
/** The maximum length of a seed. Longer ones take longer to mutate without a benefit. */
const MAX_SEED = 8_000;

const filesLike = (...patterns: readonly string[]): Buffer[] =>
  globSync(patterns, { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path)));
const logs = (): Buffer[] => filesLike('test/fixtures/{failures,tools}/*/log.txt');
const reports = (): Buffer[] => filesLike('test/fixtures/reports/*', 'test/fixtures/failures/*/*.xml');

const SEEDS: Readonly<Record<string, () => readonly Buffer[]>> = {
  sections: logs,
  reading: logs,
  mask: () => [...logs(), ...reports()],
  reports,
  decode: () => [
    ...logs().slice(0, 40),
    ...selectShort(logs()).flatMap((log) => [
      gzipSync(log),
      zstdCompressSync(log),
      Buffer.from(log.toString(), 'utf16le'),
    ]),
  ],
  archive: () => {
    const files = [...selectShort(logs()), ...reports()].map((content, at) => ({
      name: `logs/${at}_build ${at}.txt`,
      content,
    }));
    const pairs = files.map((file, at) => [file, files[(at + 1) % files.length] ?? file]);
    return pairs.flatMap((two) => [
      makeZip(two),
      makeTar(two),
      gzipSync(makeTar(two)),
      makeZip([{ name: 'inner.zip', content: makeZip(two) }]),
    ]);
  },
  webhook: () =>
    [
      WorkflowRunEvent.parse(
        createGithubExample('workflow_run', 'completed', { workflow_run: { conclusion: 'failure' } }),
      ),
      WorkflowJobEvent.parse(
        createGithubExample('workflow_job', 'completed', { workflow_job: { conclusion: 'failure' } }),
      ),
      CheckRunEvent.parse(
        createGithubExample('check_run', 'completed', { check_run: { conclusion: 'failure' } }),
      ),
      ...[NotificationEvent, GenericEvent, JsonUpload].flatMap(
        (schema) => (schema.meta()?.examples ?? []) as unknown[],
      ),
    ].map((body) => Buffer.from(JSON.stringify(body))),
};
const WORDS: Readonly<Record<string, () => readonly string[]>> = {
  sections: () => STRUCTURE_LITERALS,
  reading: listReaderLiterals,
};

const [target = '', folder = ''] = process.argv.slice(2);
const seeds = join(folder, 'seeds');
mkdirSync(seeds, { recursive: true });
for (const [at, seed] of (SEEDS[target]?.() ?? []).entries())
  if (seed.length <= MAX_SEED) writeFileSync(join(seeds, String(at)), seed);
const words = (WORDS[target]?.() ?? []).map(
  (word) => `"${Buffer.from(word).toString('hex').replace(/../g, '\\x$&')}"\n`,
);
writeFileSync(join(folder, 'words'), words.join(''));
const bundle = await rolldown({
  input: join(import.meta.dirname, `targets/${target}.ts`),
  cwd: ROOT,
  platform: 'node',
  logLevel: 'silent',
});
await bundle.write({ file: join(folder, 'target.mjs'), format: 'esm', codeSplitting: false });
await bundle.close();

/** Returns the files that are short enough for dictionary words. */
function selectShort(files: readonly Buffer[]): Buffer[] {
  return files.filter((file) => file.length < MAX_SEED / 4).slice(0, 10);
}
