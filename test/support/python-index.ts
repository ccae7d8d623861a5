import { createHash } from 'node:crypto';
import { startLoopback } from './loopback-server.ts';
import { makeZip } from './make-zip.ts';

/** A local package index for pip (PEP 503), with the packages that the test publishes. */
export interface PythonIndex {
  /** The URL for `--index-url`. */
  readonly url: string;
  /** Publishes a version of a package with one module. */
  publish(name: string, version: string, module: string): void;
  close(): Promise<void>;
}

export async function startPythonIndex(): Promise<PythonIndex> {
  const files = new Map<string, Buffer>();
  const server = await startLoopback(({ url = '' }, response) => {
    const [, kind, name = ''] = url.split('/');
    const file = files.get(name);
    if (kind === 'files' && file !== undefined) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file);
      return;
    }
    const own = [...files.keys()].filter((one) => one.startsWith(`${name}-`));
    const links = own.map((one) => `<a href="/files/${one}">${one}</a>`).join('\n');
    response
      .writeHead(own.length === 0 ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<!DOCTYPE html><html><body>${links}</body></html>`);
  });
  return {
    url: `${server.url}/simple`,
    publish: (name, version, module) =>
      void files.set(`${name}-${version}-py3-none-any.whl`, makeWheel(name, version, module)),
    close: server.close,
  };
}

/** Creates a wheel, which is a zip archive with a list of its members (PEP 427). */
function makeWheel(name: string, version: string, module: string): Buffer {
  const info = `${name}-${version}.dist-info`;
  const members = [
    { name: `${name}.py`, content: module },
    { name: `${info}/METADATA`, content: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n` },
    {
      name: `${info}/WHEEL`,
      content: 'Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    },
  ];
  const rows = members.map(({ name: path, content }) => {
    const hash = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${hash},${Buffer.byteLength(content)}\n`;
  });
  const record = { name: `${info}/RECORD`, content: `${rows.join('')}${info}/RECORD,,\n` };
  return makeZip([...members, record]);
}
