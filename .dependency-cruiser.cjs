/** Who may import whom: DESIGN's table, checked by machine. `scripts/check` also fails when fewer modules are read than there are files. */
const only = (name, from, allowed, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { path: '^(src|graphs|prompts|test|scripts)/', pathNot: [from, ...allowed] },
});
const vendor = (name, modules, owners) => ({
  name,
  severity: 'error',
  comment: 'A vendor package sits behind one owner.',
  from: { path: '^(src|graphs|prompts)/', pathNot: owners },
  to: { path: `^node_modules/(${modules})(/|$)` },
});
const WORDS = '^src/(domain|ports|lib)/';
const READ = '^src/(domain|ports|lib|log)/';

const TOOL_BASE = 'tool|findings|repository|all-tools|toolbox|resilience|result-cache|knowledge-base|knowledge-service';

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^(src|graphs|prompts)/', pathNot: ['^src/cli/main\\.ts$'] },
      to: {},
    },
    only('domain-imports-nothing', '^src/domain/', []),
    only('lib-imports-nothing', '^src/lib/', []),
    only('ports-import-domain', '^src/ports/', ['^src/(domain|lib)/']),
    only('log-imports-domain', '^src/log/', ['^src/(domain|lib)/']),
    only('config-stands-alone', '^src/config/', ['^src/domain/errors\\.ts$']),
    only('graphs-see-domain-and-ports', '^graphs/', [WORDS]),
    only('prompts-see-domain-and-ports', '^prompts/', [WORDS]),
    only('tools-see', '^src/tools/', [READ]),
    only('store-sees', '^src/store/', [READ]),
    only('judge-sees', '^src/judge/', [READ]),
    only('adapters-see', '^src/adapters/', [READ, '^src/judge/', '^prompts/']),
    only('intake-sees', '^src/intake/', [READ]),
    only('review-sees', '^src/review/', [READ]),
    only('publish-sees', '^src/publish/', [READ]),
    only('mcp-sees', '^src/mcp/', [READ, '^src/publish/']),
    only('ask-runs-the-graph', '^src/ask/', [READ, '^graphs/']),
    only('triage-runs-the-graph', '^src/triage/', [READ, '^graphs/']),
    only('replay-drives-triage', '^src/replay/', [READ, '^src/triage/', '^graphs/']),
    only('action-sees', '^action/', ['^src/(domain|ports|lib|log|config|intake|publish|app|adapters/build-source)/']),
    only('app-composes', '^src/app(\\.ts$|/)', [
      '^src/(domain|ports|lib|log|judge|config|tools|store|adapters|triage|ask|publish|replay)/',
      '^graphs/',
      '^prompts/',
    ]),
    only('console-sees', '^src/console/', [READ, '^src/(publish|review|ask)/']),
    only('http-opens-the-doors', '^src/http(\\.ts$|/)', [
      '^src/app(\\.ts$|/)',
      '^src/(console|intake|review|publish|ask|mcp|config|domain|ports|lib|log)/',
    ]),
    {
      name: 'http-knows-the-app-by-type',
      severity: 'error',
      from: { path: '^src/http(\\.ts$|/)' },
      to: { path: '^src/app(\\.ts$|/)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'prompts-only-for-graphs-and-analysts',
      severity: 'error',
      from: { path: '^src/adapters/', pathNot: '^src/adapters/analyst/' },
      to: { path: '^prompts/' },
    },
    {
      name: 'one-node-one-file',
      severity: 'error',
      from: { path: '^graphs/[^/]+/nodes/([^/]+)\\.ts$' },
      to: { path: '^graphs/[^/]+/nodes/', pathNot: '^graphs/[^/]+/nodes/$1\\.ts$' },
    },
    {
      name: 'tools-do-not-call-tools',
      severity: 'error',
      comment: 'Tools share what the modules named here hold, and nothing else of each other.',
      from: { path: '^src/tools/', pathNot: `^src/tools/(${TOOL_BASE})\\.ts$` },
      to: { path: '^src/tools/', pathNot: `^src/tools/(${TOOL_BASE})\\.ts$` },
    },
    {
      name: 'adapters-do-not-call-adapters',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      // `github-rest` is no adapter: the one client that whoever talks to GitHub shares.
      to: { path: '^src/adapters/', pathNot: ['^src/adapters/$1/', '^src/adapters/github-rest/'] },
    },
    {
      name: 'only-app-picks-adapters',
      severity: 'error',
      from: { path: '^(src|graphs|prompts)/', pathNot: ['^src/app(\\.ts$|/)', '^src/(adapters|store)/'] },
      to: { path: '^src/(adapters|store)/' },
    },
    {
      name: 'adapters-load-lazily',
      severity: 'error',
      comment: 'A static import would load every vendor whatever is configured.',
      from: { path: '^src/app(\\.ts$|/)' },
      to: { path: '^src/adapters/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    { name: 'nothing-imports-cli', severity: 'error', from: { pathNot: '^(src/cli|test)/' }, to: { path: '^src/cli/' } },
    { name: 'nothing-imports-test', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
    vendor('langgraph-in-graphs', '@langchain/langgraph[^/]*', ['^graphs/', '^src/adapters/checkpointer/']),
    vendor('langchain-in-model-adapters', '@langchain/(core|openai)', ['^src/adapters/(chat-model|embedder|analyst)/']),
    vendor('fastify-at-the-doors', 'fastify[^/]*|@fastify/[^/]+|@scalar/[^/]+', [
      '^src/(console|intake|review|publish|ask|mcp)/',
      '^src/http(\\.ts$|/)',
    ]),
    vendor(
      'services-in-adapters',
      'pg|pg-boss|node-pg-migrate|@electric-sql/[^/]+|bullmq|ioredis|mongodb|@pinecone-database/[^/]+|@octokit/[^/]+',
      ['^src/adapters/'],
    ),
    vendor('agents-protocol-in-mcp', '@modelcontextprotocol/[^/]+', ['^src/mcp/']),
    vendor('openid-in-identity', 'openid-client', ['^src/adapters/identity/']),
    vendor('cookies-at-the-doors', 'cookie', ['^src/http(\\.ts$|/)']),
    vendor('slack-in-publisher', '@slack/[^/]+', ['^src/adapters/publisher/']),
    vendor('parsers-in-log', 'gpt-tokenizer|saxes|tar|yauzl', ['^src/log/']),
    vendor('resilience-in-tools', 'cockatiel', ['^src/(tools|lib)/']),
    vendor('patterns-of-people', 're2js', ['^src/tools/', '^src/log/rules/']),
    vendor('command-line-in-cli', 'commander|close-with-grace', ['^src/cli/']),
    vendor('document-parsers-in-reader', 'unpdf|mammoth|read-excel-file', ['^src/adapters/document-reader/']),
    vendor('html-parser-in-readers', 'parse5', ['^src/adapters/(document-reader|web-search)/']),
    vendor('pino-in-logger', 'pino', ['^src/adapters/logger/']),
    vendor('opentelemetry-in-tracer', '@opentelemetry/[^/]+', ['^src/adapters/tracer/']),
    vendor('prometheus-in-metrics', 'prom-client', ['^src/adapters/metrics/']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // sees `import type` too
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      conditionNames: ['import', 'require', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
};
