import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { readLicenses } from './licences.ts';

/**
 * The oldest Node that can run it. `main.mjs` prints a message for older ones in syntax that they can parse.
 */
const TARGET = 'node20';
const STARTER_TARGET = 'node12';
const TOKENIZER = 'gpt-tokenizer/encoding/o200k_base';
/** The parts of the action that are loaded separately, with their files in the bundle. */
const PARTS = {
  './main.ts': 'main.mjs',
  './step.ts': 'step.mjs',
  './triage-here.ts': 'triage.mjs',
  './confirm-here.ts': 'confirm.mjs',
  './fetch-job-logs.ts': 'job-logs.mjs',
  [TOKENIZER]: 'tokens.mjs',
};
/**
 * Folders and modules below src that the rules never use, whatever is configured: models, databases,
 * services, and other code hosts.
 */
const LEFT_OUT = [
  'models/chat/',
  'models/analyst/llm-analyst.ts',
  'models/analyst/with-fallback.ts',
  'models/embedder/openai.ts',
  'models/embedder/local.ts',
  'stores/database/',
  'work/drivers/',
  'stores/vectors/pgvector.ts',
  'stores/vectors/pinecone.ts',
  'adapters/tracer/',
  'adapters/web-search/services.ts',
  'providers/combined-host.ts',
  'channels/slack/branch-notice.ts',
  'channels/slack/client.ts',
  'channels/smtp.ts',
  'notifications/render-check.ts',
  'notifications/render-comment.ts',
  'notifications/render-status.ts',
  'providers/suggestions.ts',
];
/** Modules that a provider loads when it is used. The rules use no provider. */
const OPENED_BY = /\/src\/providers\/[^/]+\/provider\.ts$/;
const LIGHT =
  /\/(?:provider|webhook|notice-rules|check|read-input|named-runs)\.ts$|\/src\/(?:domain|ports|log|config)\//;

/**
 * Builds the files of the bundle, by name. The same sources and packages give the same files. They are
 * readable, except for the tokenizer's table, so that differences are small.
 */
export async function buildAction(root: string): Promise<Map<string, string>> {
  const moved = LEFT_OUT.find((path) => !existsSync(join(root, 'src', path)));
  if (moved !== undefined)
    throw new Error(`src/${moved} is to be left out of the bundle, and is not there: has it moved?`);
  const files = new Map<string, string>();
  const modules = new Set<string>();
  for (const [part, fileName] of Object.entries(PARTS)) {
    const bundle = await rolldown({
      input: part === TOKENIZER ? part : join(root, 'action/src', part),
      cwd: root,
      platform: 'node',
      logLevel: 'silent',
      transform: { target: part === './main.ts' ? STARTER_TARGET : TARGET },
      plugins: [createPartsPlugin(part), withTokenizer()],
    });
    const { output } = await bundle.generate({
      format: 'esm',
      codeSplitting: false,
      comments: { legal: false },
      minify: part === TOKENIZER,
    });
    await bundle.close();
    for (const chunk of output) {
      if (chunk.type !== 'chunk') continue;
      files.set(fileName, chunk.code);
      for (const id of Object.keys(chunk.modules)) modules.add(relative(root, id));
    }
  }
  files.set('licences.txt', readLicenses(root, modules));
  return files;
}

/** Makes parts load each other by their file names, and fails if an excluded module would be loaded. */
function createPartsPlugin(self: string): Plugin {
  return {
    name: 'parts-apart',
    resolveId: {
      order: 'pre',
      async handler(source, importer) {
        const part = Object.entries(PARTS).find(([name]) => name !== self && source === name);
        if (part !== undefined) return { id: `./${part[1]}`, external: true };
        if (!source.startsWith('.') || importer === undefined) return null;
        const path = join(importer, '..', source);
        return LEFT_OUT.some((left) => path.includes(`/src/${left}`)) ||
          (OPENED_BY.test(importer) && !LIGHT.test(path))
          ? { id: `faultline:left-out/${source.split('/').at(-1)}`, external: true }
          : null;
      },
    },
  };
}

/** Replaces the `require` of the tokenizer, which bundlers do not see, by an import. */
function withTokenizer(): Plugin {
  const required = `createRequire(import.meta.url)('${TOKENIZER}')`;
  return {
    name: 'with-tokenizer',
    transform(code, id) {
      if (!id.endsWith('/src/log/reduce/tokens.ts')) return null;
      if (!code.includes(required))
        throw new Error(`${id} loads its tokenizer in another way: see to it here`);
      return `import { countTokens as countWithO200k } from '${TOKENIZER}';\n${code.replace(required, '({ countTokens: countWithO200k })')}`;
    },
  };
}
