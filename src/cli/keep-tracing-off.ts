/**
 * LangChain reads the environment by itself: one variable left over from another project, and every log goes to a tracing
 * service, or every prompt to standard output. None of its variables is left standing, whatever their names will be, unless
 * FAULTLINE_TRACING asks for them. Does its work when imported, so it must be imported before anything else.
 */
const THEIRS = /^LANG(?:SMITH|CHAIN)_/i;

if (process.env.FAULTLINE_TRACING !== 'langsmith') {
  for (const name of Object.keys(process.env)) if (THEIRS.test(name)) delete process.env[name];
}
