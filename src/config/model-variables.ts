import { PROVIDER_VARIABLES } from './model-providers.ts';
import type { Variable } from './variable.ts';

/** Who judges, and which models are asked. */
export const MODEL_VARIABLES: readonly Variable[] = [
  { name: 'FAULTLINE_ANALYST', path: 'analyst.driver', type: 'text', meaning: 'Analyst: rules, or llm with rules as the fallback.' },
  {
    name: 'OPENAI_BASE_URL',
    path: 'analyst.llm.baseUrl',
    type: 'text',
    meaning: 'Base URL of an OpenAI-compatible server, with or without /v1. Empty means OpenAI, or Azure if configured.',
  },
  { name: 'OPENAI_API_KEY', path: 'analyst.llm.apiKey', type: 'text', secret: true, meaning: 'Its API key.' },
  {
    name: 'OPENAI_MODEL',
    path: 'analyst.llm.model',
    type: 'text',
    meaning: 'Model to use. With a provider prefix, such as "anthropic:claude-sonnet-4-5", that provider is used with its own key.',
  },
  { name: 'FAULTLINE_MODEL', path: 'analyst.llm.model', type: 'text', meaning: 'Same as OPENAI_MODEL; takes precedence over it.' },
  {
    name: 'AZURE_OPENAI_ENDPOINT',
    path: 'analyst.llm.azure.endpoint',
    type: 'text',
    meaning: 'URL of an Azure OpenAI resource. Used unless OPENAI_BASE_URL names another server.',
  },
  {
    name: 'AZURE_OPENAI_API_KEY',
    path: 'analyst.llm.azure.apiKey',
    type: 'text',
    secret: true,
    meaning: 'Its API key. Default: OPENAI_API_KEY.',
  },
  {
    name: 'AZURE_OPENAI_DEPLOYMENT',
    path: 'analyst.llm.azure.deployment',
    type: 'text',
    meaning: 'Name of the Azure deployment. Default: the model name.',
  },
  { name: 'OPENAI_API_VERSION', path: 'analyst.llm.azure.apiVersion', type: 'text', meaning: 'Azure api-version. Default: 2024-10-21.' },
  ...PROVIDER_VARIABLES,
  {
    name: 'FAULTLINE_MODEL_TIMEOUT_MS',
    path: 'analyst.llm.timeoutMs',
    type: 'number',
    meaning: 'Time limit of one model call, in milliseconds.',
  },
  {
    name: 'FAULTLINE_MODEL_PRICES',
    path: 'analyst.llm.prices',
    type: 'json',
    meaning:
      'US dollars per million tokens, as JSON or the path of a JSON file: {"model": {"input": 0.15, "cachedInput": 0.075, "output": 0.6}}. Overrides the built-in list prices and adds models.',
  },
  {
    name: 'FAULTLINE_EMBEDDER',
    path: 'embedder.driver',
    type: 'text',
    meaning:
      'How knowledge is searched: hashing (by words), openai (also by meaning, with an embedding model), or local (with an embedding model on this machine).',
  },
  {
    name: 'FAULTLINE_EMBEDDER_MODEL',
    path: 'embedder.local.model',
    type: 'text',
    meaning: 'Sentence model for local: a folder with an ONNX model, or a hub name such as Xenova/all-MiniLM-L6-v2.',
  },
  {
    name: 'FAULTLINE_EMBEDDER_DOWNLOAD',
    path: 'embedder.local.download',
    type: 'flag',
    meaning: 'Set to true to allow a one-time download of a hub model.',
  },
  { name: 'OPENAI_EMBEDDING_MODEL', path: 'embedder.openai.model', type: 'text', meaning: 'Embedding model to use.' },
  {
    name: 'OPENAI_EMBEDDING_BASE_URL',
    path: 'embedder.openai.baseUrl',
    type: 'text',
    meaning: 'Base URL of an OpenAI-compatible embedding server. Empty means the server of OPENAI_BASE_URL, with its key.',
  },
  {
    name: 'OPENAI_EMBEDDING_API_KEY',
    path: 'embedder.openai.apiKey',
    type: 'text',
    secret: true,
    meaning: 'Its API key, if different from OPENAI_API_KEY.',
  },
  {
    name: 'OPENAI_EMBEDDING_DIMENSIONS',
    path: 'embedder.openai.dimensions',
    type: 'number',
    meaning: 'Required vector dimensions. Default: the dimensions of the first response.',
  },
  {
    name: 'OPENAI_EMBEDDING_TIMEOUT_MS',
    path: 'embedder.openai.timeoutMs',
    type: 'number',
    meaning: 'Time limit of one batch of texts, in milliseconds.',
  },
  { name: 'FAULTLINE_BUDGET_TOKENS', path: 'triage.budgetTokens', type: 'number', meaning: 'Log tokens that an analysis may use.' },
];
