import { PROVIDER_VARIABLES } from './model-providers.ts';
import type { Variable } from './variable.ts';

/** Who judges, and which models are asked. */
export const MODEL_VARIABLES: readonly Variable[] = [
  { name: 'FAULTLINE_ANALYST', path: 'analyst.driver', type: 'text', meaning: 'Who judges: rules, or llm with rules as the fallback.' },
  {
    name: 'OPENAI_BASE_URL',
    path: 'analyst.llm.baseUrl',
    type: 'text',
    meaning: 'Base address of an OpenAI-compatible server, with or without /v1; empty means OpenAI itself, or Azure where that is set.',
  },
  { name: 'OPENAI_API_KEY', path: 'analyst.llm.apiKey', type: 'text', secret: true, meaning: 'Its key.' },
  {
    name: 'OPENAI_MODEL',
    path: 'analyst.llm.model',
    type: 'text',
    meaning:
      'Model to ask; with a provider in front of it, such as "anthropic:claude-sonnet-4-5", that provider is asked with its own key.',
  },
  { name: 'FAULTLINE_MODEL', path: 'analyst.llm.model', type: 'text', meaning: 'The same; it goes before OPENAI_MODEL.' },
  {
    name: 'AZURE_OPENAI_ENDPOINT',
    path: 'analyst.llm.azure.endpoint',
    type: 'text',
    meaning: 'Address of an Azure OpenAI resource; asked unless OPENAI_BASE_URL names another server.',
  },
  {
    name: 'AZURE_OPENAI_API_KEY',
    path: 'analyst.llm.azure.apiKey',
    type: 'text',
    secret: true,
    meaning: 'Its key; OPENAI_API_KEY if unset.',
  },
  {
    name: 'AZURE_OPENAI_DEPLOYMENT',
    path: 'analyst.llm.azure.deployment',
    type: 'text',
    meaning: "Name of the deployment there; the model's name if unset.",
  },
  { name: 'OPENAI_API_VERSION', path: 'analyst.llm.azure.apiVersion', type: 'text', meaning: "Azure's api-version; 2024-10-21 if unset." },
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
      'US dollars for a million tokens, as JSON or the path of a JSON file: {"model": {"input": 0.15, "cachedInput": 0.075, "output": 0.6}}. Corrects the list prices that come with Faultline and adds models.',
  },
  {
    name: 'FAULTLINE_EMBEDDER',
    path: 'embedder.driver',
    type: 'text',
    meaning:
      'How knowledge is found: hashing (by its words), openai (also by meaning, with an embedding model), or local (with one on this machine).',
  },
  {
    name: 'FAULTLINE_EMBEDDER_MODEL',
    path: 'embedder.local.model',
    type: 'text',
    meaning: 'Sentence model of local: a folder with an ONNX model, or a name of the hub such as Xenova/all-MiniLM-L6-v2.',
  },
  {
    name: 'FAULTLINE_EMBEDDER_DOWNLOAD',
    path: 'embedder.local.download',
    type: 'flag',
    meaning: 'Set to true: a model of the hub may be fetched, once.',
  },
  { name: 'OPENAI_EMBEDDING_MODEL', path: 'embedder.openai.model', type: 'text', meaning: 'Embedding model to ask.' },
  {
    name: 'OPENAI_EMBEDDING_BASE_URL',
    path: 'embedder.openai.baseUrl',
    type: 'text',
    meaning: 'Base address of an OpenAI-compatible server that embeds; empty means the one of OPENAI_BASE_URL, with its key.',
  },
  {
    name: 'OPENAI_EMBEDDING_API_KEY',
    path: 'embedder.openai.apiKey',
    type: 'text',
    secret: true,
    meaning: 'Its key, where it is not OPENAI_API_KEY.',
  },
  {
    name: 'OPENAI_EMBEDDING_DIMENSIONS',
    path: 'embedder.openai.dimensions',
    type: 'number',
    meaning: 'How many numbers a vector must have; unset, as many as the first answer has.',
  },
  {
    name: 'OPENAI_EMBEDDING_TIMEOUT_MS',
    path: 'embedder.openai.timeoutMs',
    type: 'number',
    meaning: 'Time limit of one batch of texts, in milliseconds.',
  },
  { name: 'FAULTLINE_BUDGET_TOKENS', path: 'triage.budgetTokens', type: 'number', meaning: 'Tokens of log that an analysis may see.' },
];
