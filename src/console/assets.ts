import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { protect } from './http.ts';

/** The browser modules in the order in which they are joined. Each may use those before it. */
const MODULES = [
  'core.js',
  'keys.js',
  'combo.js',
  'review.js',
  'log.js',
  'live.js',
  'ask.js',
  'start.js',
] as const;
/**
 * The style sheets in the order in which they are joined. A later one may override rules of an earlier one.
 */
const STYLES = [
  'font.css',
  'tokens.css',
  'base.css',
  'frame.css',
  'controls.css',
  'words.css',
  'evidence.css',
  'lists.css',
  'charts.css',
  'comparison.css',
  'states.css',
  'content.css',
  'narrow.css',
] as const;
const YEAR_S = 31_536_000;

interface Asset {
  /** The address contains a hash of the content, so browsers may cache the file forever. */
  readonly address: string;
  readonly type: string;
  readonly plain: Buffer;
  /** The bytes for browsers that accept gzip. A font is already compressed and is not compressed again. */
  readonly gzip: Buffer;
}

const FONT = readFileSync(new URL('./browser/fonts/inter.woff2', import.meta.url));
const FONT_ASSET = createAsset('inter', 'woff2', 'font/woff2', FONT);

/** The style sheet, the script, the font and the icon, read once. */
export const ASSETS = {
  font: FONT_ASSET,
  css: createAsset(
    'app',
    'css',
    'text/css; charset=utf-8',
    STYLES.map((name) => stripLineEnds(stripIndentation(read(name))))
      .join('\n')
      .replace('/assets/inter.woff2', FONT_ASSET.address),
  ),
  js: createAsset(
    'app',
    'js',
    'text/javascript; charset=utf-8',
    MODULES.map((name) => stripIndentation(withoutLinks(read(name)))).join('\n'),
  ),
  icon: createAsset('icon', 'svg', 'image/svg+xml', read('icon.svg')),
} as const;

/**
 * Registers the styles and scripts of the pages. A request for an address of an earlier release gets the
 * current file.
 */
export function registerAssets(app: FastifyInstance): void {
  const access = {
    open: 'the style, script and font of the pages, which are in the public source and hold no data',
  };
  for (const served of Object.values(ASSETS)) {
    const [name = ''] = served.address.split('?');
    app.get(name, { config: { access } }, async (request, reply) => {
      protect(reply);
      reply
        .header('content-type', served.type)
        .header('cache-control', `public, max-age=${YEAR_S}, immutable`)
        .header('vary', 'accept-encoding');
      const packed =
        served.gzip !== served.plain && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      return packed ? reply.header('content-encoding', 'gzip').send(served.gzip) : reply.send(served.plain);
    });
  }
}

function read(name: string): string {
  return readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8');
}

/** Removes indentation and comments on lines of their own, which only readers of the source need. */
function stripIndentation(text: string): string {
  let isComment = false;
  const kept = text.split('\n').flatMap((line) => {
    const words = line.trim();
    const begins = isComment || words.startsWith('/*');
    isComment = begins && !words.includes('*/');
    return words === '' || (begins && words.endsWith('*/')) || isComment ? [] : [words];
  });
  return kept.join('\n');
}

/** Removes the line breaks of a style sheet to reduce its size. */
function stripLineEnds(rules: string): string {
  return rules
    .replaceAll(' {\n', '{')
    .replaceAll(';\n}', '}')
    .replaceAll(';\n', ';')
    .replaceAll('}\n', '}')
    .replaceAll(',\n', ',');
}

/** Removes the imports, exports and types of a module, because the joined modules share one scope. */
function withoutLinks(module: string): string {
  return module
    .replace(/\/\*\*[^*]{0,300}\*\/ ?/g, '')
    .replace(/^ {0,20}\/\/ .*$/gm, '')
    .replace(/^import .*;$/gm, '')
    .replace(/^export (?=const|let|function|async)/gm, '');
}

function createAsset(name: string, extension: string, type: string, content: string | Buffer): Asset {
  const plain = Buffer.from(content);
  const version = createHash('sha256').update(plain).digest('hex').slice(0, 12);
  return {
    address: `/assets/${name}.${extension}?v=${version}`,
    type,
    plain,
    gzip: typeof content === 'string' ? gzipSync(plain, { level: 9 }) : plain,
  };
}
