/**
 * `scripts/bench server [part] [options]` measures server mode. Each part prints what it ran, and both sides
 * of every ratio.
 */
const PARTS: Readonly<
  Record<string, () => Promise<{ readonly run: (options: readonly string[]) => Promise<void> }>>
> = {
  ingest: () => import('./ingest-bench.ts'),
  queue: () => import('./queue-latency.ts'),
  store: () => import('./store-size.ts'),
  environments: () => import('./environments-size.ts'),
  insights: () => import('./insights-size.ts'),
  answer: () => import('./server-answer.ts'),
  workers: () => import('./server-workers.ts'),
  delay: () => import('./server-delay.ts'),
  memory: () => import('./server-memory.ts'),
};

const [name, ...options] = process.argv.slice(2);
const chosen = name === undefined ? Object.keys(PARTS) : [name];
for (const part of chosen) {
  const load = PARTS[part];
  if (load === undefined) {
    console.error(`usage: scripts/bench server [${Object.keys(PARTS).join(' | ')}] [options]`);
    process.exit(2);
  }
  console.log(`== ${part}`);
  await (await load()).run(options);
}
