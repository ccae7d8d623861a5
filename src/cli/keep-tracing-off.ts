/**
 * Deletes the environment variables of LangChain, which reads them by itself: one that is left over from
 * another project would send every prompt to standard output or, under one of its older names, to a tracing
 * service. All are deleted, whatever their names will be, except those of LangSmith if LANGSMITH_TRACING=true
 * requests it explicitly; then a message says so. This module does its work when imported, so it must be
 * imported before anything else.
 */
const { LANGSMITH_TRACING, LANGSMITH_ENDPOINT } = process.env;
const wanted = LANGSMITH_TRACING?.toLowerCase() === 'true';
const theirs = wanted ? /^LANGCHAIN_/i : /^LANG(?:SMITH|CHAIN)_/i;
for (const name of Object.keys(process.env)) if (theirs.test(name)) delete process.env[name];

/** The commands that run the graph. Only these have something to send. */
const SENDING = ['triage', 'replay', 'ask', 'serve', 'worker'];
if (wanted && process.argv.some((word) => SENDING.includes(word))) {
  const url = LANGSMITH_ENDPOINT || 'https://api.smith.langchain.com';
  const host = URL.canParse(url) ? new URL(url).host : 'an invalid URL';
  process.stderr.write(
    'LANGSMITH_TRACING=true: excerpts of logs, prompts and answers, with secrets masked, are sent to ' +
      `LangSmith at ${host}\n`,
  );
}
