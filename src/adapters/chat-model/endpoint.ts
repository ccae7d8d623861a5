import { TriageError } from '../../domain/errors.ts';

/** Where chat completions are asked for, and how we show who we are. */
export interface Endpoint {
  /** Addresses to try in this order where the server answers 404; the one that works is remembered. Never empty. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

export interface EndpointOptions {
  /** With or without `/v1`, `/chat/completions` or a slash at the end; null: OpenAI's own. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** Azure's `api-version`; not null, the server is spoken to as Azure OpenAI. Empty: the version we know. */
  readonly apiVersion: string | null;
  /** On Azure the name of the deployment. */
  readonly model: string;
}

const OPENAI = 'https://api.openai.com/v1';
/** Azure's newest version with strict schemas and parallel function calls that is not a preview (Azure OpenAI, API version lifecycle). */
const AZURE_VERSION = '2024-10-21';
const AZURE_HOST = /\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$/;
const PATH = '/chat/completions';

/** The addresses of a server. Throws `invalid-config` where the base URL is none of HTTP, or no key is given for OpenAI. */
export function endpointOf({ baseUrl, apiKey, apiVersion, model }: EndpointOptions): Endpoint {
  if (apiKey === null && baseUrl === null) {
    throw new TriageError('invalid-config', 'OpenAI needs an API key; set one, or set the base URL of a server that needs none');
  }
  const base = parse(baseUrl ?? OPENAI);
  const path = base.pathname.replace(/\/$/, '');
  const azure = apiVersion !== null || AZURE_HOST.test(base.hostname);
  const version = base.searchParams.get('api-version') ?? (apiVersion === '' ? null : apiVersion);
  const paths = azure ? azurePaths(path, model) : plainPaths(path);
  const urls = paths.map((one) => {
    const url = new URL(base);
    url.pathname = one;
    if (azure && (version !== null || one.includes('/deployments/'))) url.searchParams.set('api-version', version ?? AZURE_VERSION);
    return url.href;
  });
  if (apiKey === null) return { urls, headers: {} };
  return { urls, headers: azure ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` } };
}

/** Host and path for people; without a user, a password or a query, which may hold a key. */
export function shownAddress(address: string): string {
  const { host, pathname } = new URL(address);
  return `${host}${pathname}`;
}

function parse(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TriageError('invalid-config', "The base URL of the model's server must begin with http:// or https://");
  }
  url.hash = '';
  return url;
}

function plainPaths(path: string): string[] {
  if (path.endsWith(PATH)) return [path];
  if (path === '') return [`/v1${PATH}`, PATH];
  if (/\/v\d[a-z]{0,5}$/.test(path) || path.endsWith('/openai')) return [`${path}${PATH}`];
  return [`${path}${PATH}`, `${path}/v1${PATH}`];
}

function azurePaths(path: string, model: string): string[] {
  if (path.endsWith(PATH)) return [path];
  if (path.includes('/deployments/') || path.endsWith('/v1')) return [`${path}${PATH}`];
  const root = path.endsWith('/openai') ? path : `${path}/openai`;
  return [`${root}/deployments/${encodeURIComponent(model)}${PATH}`, `${root}/v1${PATH}`];
}
