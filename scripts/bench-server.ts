/** `scripts/bench server [part] [options]`: figures of server mode. Each part prints what it ran and both sides of every ratio. */
const PARTS: Readonly<
  Record<string, () => Promise<{ readonly run: (options: readonly string[]) => Promise<void> }>>
> = {
  ingest: () => import('./bench-parts/ingest-bench.ts'),
  queue: () => import('./bench-parts/queue-latency.ts'),
  store: () => import('./bench-parts/store-size.ts'),
  insights: () => import('./bench-parts/insights-size.ts'),
  answer: () => import('./bench-parts/server-answer.ts'),
  workers: () => import('./bench-parts/server-workers.ts'),
  delay: () => import('./bench-parts/server-delay.ts'),
  memory: () => import('./bench-parts/server-memory.ts'),
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
