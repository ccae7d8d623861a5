import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { licencesOf } from './licences.ts';

/** The oldest Node that may run it; `main.mjs` says so to older ones, in words that they can read. */
const TARGET = 'node20';
const STARTER_TARGET = 'node12';
const TOKENIZER = 'gpt-tokenizer/encoding/o200k_base';
/** Each part of the action that is loaded by itself, and its file in the bundle. */
const PARTS = {
  './main.ts': 'main.mjs',
  './step.ts': 'step.mjs',
  './triage-here.ts': 'triage.mjs',
  './confirm-here.ts': 'confirm.mjs',
  './fetch-job-logs.ts': 'job-logs.mjs',
  [TOKENIZER]: 'tokens.mjs',
};
/** What the rules never ask, whatever is configured: models, databases, services, other code hosts. Folders and modules below src. */
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
/** What a provider opens when it is asked; the rules ask none. */
const OPENED_BY = /\/src\/providers\/[^/]+\/provider\.ts$/;
const LIGHT =
  /\/(?:provider|webhook|notice-rules|check|read-input)\.ts$|\/src\/(?:domain|ports|log|config)\//;

/** The bundle's files by name, the same for the same sources and packages. Readable but for the tokenizer's table, so that
 * differences stay small. */
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
      plugins: [partsApart(part), withTokenizer()],
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
  files.set('licences.txt', licencesOf(root, modules));
  return files;
}

/** Parts load each other by their files; what is left out must never be asked for. */
function partsApart(self: string): Plugin {
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

/** The tokenizer is required when it is first needed, past any bundler: here it is an import. */
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
