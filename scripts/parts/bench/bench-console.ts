/** `scripts/bench console [part] [options]` measures the response times of the pages. */
const PARTS: Readonly<
  Record<string, () => Promise<{ readonly run: (options: readonly string[]) => Promise<void> }>>
> = {
  log: () => import('./console-log.ts'),
  pages: () => import('./console-pages.ts'),
};

const [name, ...options] = process.argv.slice(2);
const chosen = name === undefined ? Object.keys(PARTS) : [name];
for (const part of chosen) {
  const load = PARTS[part];
  if (load === undefined) {
    console.error(`usage: scripts/bench console [${Object.keys(PARTS).join(' | ')}] [options]`);
    process.exit(2);
  }
  console.log(`== ${part}`);
  await (await load()).run(options);
}
