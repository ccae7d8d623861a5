import { createHmac, timingSafeEqual } from 'node:crypto';
import fastify from 'fastify';
import { openBenchDatabase } from './ingest-database.ts';

/**
 * The least that takes a webhook honestly: the signature over the raw body, the body parsed, one INSERT that is durable
 * before the 202. Same pool, same server, same number of bytes in the row as Faultline's; no logging, no other routes.
 *
 *   node scripts/parts/bench/ingest-reference.ts <postgres://… | PGlite directory> <secret>
 */
const [place = '', secret = ''] = process.argv.slice(2);
const { pool } = await openBenchDatabase(place);
const app = fastify({ bodyLimit: 25 * 1024 * 1024 });
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);

app.post('/webhooks/github', async (request, reply) => {
  const body = request.body as Buffer;
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(String(request.headers['x-hub-signature-256']));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return reply.status(401).send();
  const { repository, sender, workflow_job: job } = JSON.parse(body.toString('utf8'));
  const kept = {
    repository: repository.full_name,
    defaultBranch: repository.default_branch,
    author: sender.login,
    run: job.run_id,
    job: job.id,
    name: job.name,
    workflow: job.workflow_name,
    attempt: job.run_attempt,
    conclusion: job.conclusion,
    branch: job.head_branch,
    commit: job.head_sha,
    url: job.html_url,
    startedAt: job.started_at,
    finishedAt: job.completed_at,
  };
  await pool.query(
    'insert into bench_deliveries (id, event, body) values ($1, $2, $3) on conflict do nothing',
    [request.headers['x-github-delivery'], request.headers['x-github-event'], JSON.stringify(kept)],
  );
  return reply.status(202).send({ accepted: true });
});

await pool.query(
  'create table if not exists bench_deliveries (id text primary key, event text not null, body jsonb not null)',
);
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
process.on('message', () => process.send?.(0));
