import type { ChatOpenAICompletions } from '@langchain/openai';
import { TriageError } from '../../domain/errors.ts';
import { readText } from '../../lib/http-body.ts';
import { createRedirectError } from '../refusal.ts';
import { type Dialect, isReasoningModel } from './dialect.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface CompletionRequest {
  readonly url: string;
  /** The headers that authenticate us. They are sent only to `url`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly dialect: Dialect;
  /** The requested form of the reply; empty for plain text. */
  readonly wishes: Wishes;
  readonly maxReplyBytes: number;
}

/** The parts of a chat completion that shape the reply. */
export interface Wishes {
  readonly response_format?:
    | { type: 'json_object' }
    | {
        type: 'json_schema';
        json_schema: { name: string; schema: Record<string, unknown>; strict: boolean };
      };
  readonly tools?: {
    type: 'function';
    function: { name: string; description: string; parameters: Record<string, unknown>; strict?: boolean };
  }[];
  readonly tool_choice?: 'auto';
  readonly parallel_tool_calls?: boolean;
}

/**
 * Creates LangChain's chat-completions model with its own retries disabled and with our fetch. LangChain is
 * loaded on first use, so rules-only
 * installations never load it.
 */
export async function connect(
  request: CompletionRequest,
  fetchReply: typeof fetch,
): Promise<ChatOpenAICompletions> {
  const { ChatOpenAICompletions } = await import('@langchain/openai');
  const { dialect, model } = request;
  return new ChatOpenAICompletions({
    model,
    apiKey: 'in the headers',
    maxRetries: 0,
    streamUsage: dialect.streamUsage,
    ...outputLimit(dialect, model),
    ...(dialect.temperature ? { temperature: 0 } : {}),
    configuration: { baseURL: request.url, fetch: fetchReply, logLevel: 'off' },
  });
}

/**
 * Sends the request that LangChain prepared to exactly the address of the request. A redirect is refused,
 * because it would send log excerpts, and on Azure the key, to another host. Throws `upstream-failed`.
 */
export async function post(
  { url, headers }: CompletionRequest,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const sent = new Headers(init?.headers);
  sent.delete('authorization');
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  const response = await fetch(url, { ...init, headers: sent, signal, redirect: 'manual' });
  if (response.status < 300 || response.status >= 400) return response;
  await response.body?.cancel();
  throw createRedirectError(response.status, response.headers.get('location'), url);
}

export async function readBounded(response: Response, limit: number): Promise<string> {
  const text = await readText(response.body, limit);
  if (text === null) throw createTooLargeError(limit);
  return text;
}

export function createTooLargeError(limit: number): TriageError {
  return new TriageError('invalid-input', `The model's reply is larger than ${limit} bytes`);
}

/**
 * Returns the parameter that limits the output. LangChain chooses the name of `maxTokens` by the model. The
 * value -1 makes it send none, so that another name can be set.
 */
function outputLimit({ limitNames, outputTokens }: Dialect, model: string) {
  const [name] = limitNames;
  const usual = isReasoningModel(model) ? 'max_completion_tokens' : 'max_tokens';
  if (name === usual) return { maxTokens: outputTokens };
  return { maxTokens: -1, modelKwargs: name === undefined ? {} : { [name]: outputTokens } };
}

/** The addresses of chat completions and the headers that authenticate us. */
export interface Endpoint {
  /**
   * The addresses, in the order in which they are tried if the server returns 404. The address that works is
   * remembered. Never empty.
   */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

interface EndpointOptions {
  /** The base URL, with or without `/v1`, `/chat/completions` or a trailing slash. Null for OpenAI. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /**
   * Azure's `api-version`. If empty, the known version is used. If not null, the server is addressed as Azure
   * OpenAI.
   */
  readonly apiVersion: string | null;
  /** The name of the model; on Azure, the name of the deployment. */
  readonly model: string;
}

const OPENAI = 'https://api.openai.com/v1';
/**
 * The newest stable API version of Azure OpenAI with strict schemas and parallel function calls (Azure
 * OpenAI, API version lifecycle).
 */
const AZURE_VERSION = '2024-10-21';
const AZURE_HOST = /\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$/;
const PATH = '/chat/completions';
/** The version of the Messages API (platform.claude.com/docs/en/api/versioning). */
const ANTHROPIC_VERSION = '2023-06-01';

/**
 * Returns the addresses of a server. Throws `invalid-config` if the base URL is not an HTTP URL, or if the
 * key for OpenAI is missing.
 */
export function resolveEndpoint({ baseUrl, apiKey, apiVersion, model }: EndpointOptions): Endpoint {
  if (apiKey === null && baseUrl === null) {
    throw new TriageError(
      'invalid-config',
      'OpenAI needs an API key; set one, or set the base URL of a server that needs none',
    );
  }
  const base = parse(baseUrl ?? OPENAI);
  const path = base.pathname.replace(/\/$/, '');
  const azure = apiVersion !== null || AZURE_HOST.test(base.hostname);
  const version = base.searchParams.get('api-version') ?? (apiVersion === '' ? null : apiVersion);
  const paths = azure ? listAzurePaths(path, model) : listPlainPaths(path);
  const urls = paths.map((other) => {
    const url = new URL(base);
    url.pathname = other;
    if (azure && (version !== null || other.includes('/deployments/')))
      url.searchParams.set('api-version', version ?? AZURE_VERSION);
    return url.href;
  });
  if (isMessages(path))
    return {
      urls,
      headers: { 'anthropic-version': ANTHROPIC_VERSION, ...(apiKey !== null && { 'x-api-key': apiKey }) },
    };
  if (apiKey === null) return { urls, headers: {} };
  return { urls, headers: azure ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` } };
}

/** Returns host and path for display, without user, password and query, which may contain a key. */
export function formatAddress(address: string): string {
  const { host, pathname } = new URL(address);
  return `${host}${pathname}`;
}

function parse(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TriageError(
      'invalid-config',
      "The base URL of the model's server must begin with http:// or https://",
    );
  }
  url.hash = '';
  return url;
}

function listPlainPaths(path: string): string[] {
  if (path.endsWith(PATH) || isMessages(path) || path.endsWith('/api/chat')) return [path];
  if (path === '') return [`/v1${PATH}`, PATH];
  if (/\/v\d[a-z]{0,5}$/.test(path) || path.endsWith('/openai')) return [`${path}${PATH}`];
  return [`${path}${PATH}`, `${path}/v1${PATH}`];
}

/** Checks whether a path is that of Anthropic's Messages API. */
function isMessages(path: string): boolean {
  return path.endsWith('/messages');
}

function listAzurePaths(path: string, model: string): string[] {
  if (path.endsWith(PATH)) return [path];
  if (path.includes('/deployments/') || path.endsWith('/v1')) return [`${path}${PATH}`];
  const root = path.endsWith('/openai') ? path : `${path}/openai`;
  return [`${root}/deployments/${encodeURIComponent(model)}${PATH}`, `${root}/v1${PATH}`];
}
