/**
 * `node scripts/release/write-client.ts FOLDER`: the typed client that the package exports as `faultline/client`. Its types are those of the API's
 * own description, so that they cannot differ from what the service checks.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTypes, { astToString } from 'openapi-typescript';
import { buildHttp } from '../../src/api/server.ts';
import { createEmptyHttpDeps } from '../../test/support/http-deps.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/release/write-client.ts FOLDER');

const CODE = `import createFetchClient from 'openapi-fetch';

export function createClient({ url, token, headers, ...options }) {
  // A token must not follow a redirect.
  return createFetchClient({ redirect: 'error', ...options, baseUrl: url, headers: { ...headers, authorization: \`Bearer \${token}\` } });
}
`;

const TYPES = `import type { Client, ClientOptions } from 'openapi-fetch';
import type { paths } from './schema.js';

export type { components, operations, paths } from './schema.js';

/** Where a service is, and a token with the roles that the calls need. The rest is what \`openapi-fetch\` takes. */
export interface FaultlineOptions extends Omit<ClientOptions, 'baseUrl'> {
  readonly url: string;
  readonly token: string;
}

/**
 * A client for the HTTP API of Faultline: \`client.GET('/api/builds/{id}/analyses', { params: { path: { id } } })\` returns
 * \`{ data, error, response }\`. It rejects only where no response came.
 */
export function createClient(options: FaultlineOptions): Client<paths>;
`;

const app = await buildHttp(createEmptyHttpDeps());
const description = await app.inject('/openapi.json');
await app.close();
await mkdir(folder, { recursive: true });
await writeFile(join(folder, 'schema.d.ts'), astToString(await openapiTypes(description.payload)));
await writeFile(join(folder, 'index.js'), CODE);
await writeFile(join(folder, 'index.d.ts'), TYPES);
