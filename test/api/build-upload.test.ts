import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createFakeHttpDeps } from '../support/fake-stores.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { makeZip } from '../support/make-zip.ts';
import {
  app,
  base,
  LOG,
  metadata,
  type Part,
  REPORT,
  sendForm,
  sendJson,
  serveUploads,
  state,
} from '../support/uploads.ts';

serveUploads();

describe('an upload', () => {
  test('of a form with plain and gzip logs and a report is stored masked, and requests a triage', async () => {
    const answer = await sendForm([
      ['metadata', metadata],
      ['log', `${LOG}password=hunter2hunter2 token ghp_${'a1B2c3D4e5F6'.repeat(3)}\n`, 'build.log'],
      ['log', gzipSync('second log\n'), 'deploy.log.gz'],
      ['report', REPORT, 'junit.xml'],
    ]);

    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({
      buildId: 'bld_1',
      jobId: 'bld_1',
      links: { build: '/api/builds/bld_1', analyses: '/api/builds/bld_1/analyses' },
    });
    expect(state.builds[0]).toMatchObject({
      provider: 'upload',
      repository: 'shop/api',
      number: '812',
      attempt: 1,
      status: 'failed',
    });
    expect([...state.archive.keys()]).toEqual(['bld_1/build.log', 'bld_1/deploy.log', 'bld_1/junit.xml']);
    expect(state.archive.get('bld_1/build.log')).toContain('expected 10.20, got 10.21');
    expect(state.archive.get('bld_1/build.log')).not.toContain('a1B2c3D4e5F6');
    expect(state.archive.get('bld_1/deploy.log')).toBe('second log\n');
    expect(state.results.get('bld_1')?.map((result) => result.status)).toEqual(['passed', 'failed']);
    expect(state.enqueued).toEqual(['bld_1']);
  });

  test('with secrets in its metadata and file names stores none of them', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const answer = await sendForm([
      [
        'metadata',
        {
          ...metadata,
          repository: `https://ci:${secret}@git.example.com/shop/api.git`,
          branch: `try/${secret}`,
          author: `token=${secret}`,
          url: `https://ci:hunter2hunter2@ci.example.com/job/shop/812/?token=${secret}`,
        },
      ],
      ['log', LOG, `deploy-${secret}.log`],
      ['log', makeZip([{ name: `logs/${secret}.log`, content: LOG }]), 'logs.zip'],
    ]);

    expect(answer.status).toBe(202);
    expect(state.builds[0]).toMatchObject({
      repository: 'https://ci:***@git.example.com/shop/api.git',
      branch: 'try/***',
      author: 'token=***',
      url: 'https://ci.example.com/job/shop/812/?token=***',
    });
    expect([...state.archive.keys()]).toEqual(['bld_1/deploy-***.log', 'bld_1/logs.zip/logs/***.log']);
  });

  test('with artifacts stores their texts masked, and only the names of the others', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
    const members = [
      { name: 'logs/worker.log', content: `token ghp_${'a1B2c3D4e5F6'.repeat(3)}\nlost\n` },
      { name: 'shots/cart.png', content: png },
    ];
    const answer = await sendForm([
      ['metadata', metadata],
      ['log', LOG, 'build.log'],
      ['artifact', makeZip(members), 'e2e.zip'],
      ['artifact', 'ready\n', 'server.log'],
    ]);

    expect(answer.status).toBe(202);
    expect([...state.archive.keys()]).toEqual([
      'bld_1/build.log',
      'bld_1/e2e.zip/logs/worker.log',
      'bld_1/e2e.zip/shots/cart.png',
      'bld_1/server.log',
    ]);
    expect(state.archive.get('bld_1/e2e.zip/logs/worker.log')).not.toContain('a1B2c3D4e5F6');
    expect(state.archive.get('bld_1/e2e.zip/shots/cart.png')).toBe('');
  });

  test('may be JSON with text and base64', async () => {
    const logs = [
      { name: 'a.log', text: LOG },
      { name: 'b.log.gz', base64: gzipSync('zipped\n').toString('base64') },
    ];
    const answer = await sendJson({ metadata, logs, reports: [{ name: 'junit.xml', text: REPORT }] });

    expect(answer.status).toBe(202);
    expect(state.archive.get('bld_1/b.log')).toBe('zipped\n');
    expect(state.results.get('bld_1')).toHaveLength(2);
  });

  test('may have the parts of its form in any order, and the metadata as a file', async () => {
    const answer = await sendForm([
      ['log', LOG, 'build.log'],
      ['metadata', JSON.stringify(metadata), 'metadata.json'],
    ]);

    expect(answer.status).toBe(202);
  });

  test('of a passed build stores its test results and requests no triage', async () => {
    const answer = await sendForm([
      ['metadata', { ...metadata, status: 'passed' }],
      ['report', REPORT.replace(/<failure.*<\/failure>/, ''), 'junit.xml'],
    ]);

    expect([answer.status, answer.json.jobId]).toEqual([202, null]);
    expect(answer.json.ignored).toContain('passed');
    expect(state.results.get('bld_1')).toHaveLength(2);
    expect(state.jobs).toEqual([]);
  });

  test('stores two logs with the same name', async () => {
    await sendForm([
      ['metadata', metadata],
      ['log', 'one\n', 'build.log'],
      ['log', 'two\n', 'build.log'],
    ]);

    expect([...state.archive.values()]).toEqual(['one\n', 'two\n']);
  });

  test('cannot write outside of the archive by a file name', async () => {
    await sendForm([
      ['metadata', metadata],
      ['log', LOG, '../../../etc/passwd'],
    ]);

    expect([...state.archive.keys()]).toEqual(['bld_1/passwd']);
  });

  test('of more than one chunk arrives unchanged, with and without a declared length', async () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, index) => `line ${index} ${randomBytes(8).toString('hex')}`,
    ).join('\n');
    await sendForm([
      ['metadata', metadata],
      ['log', lines, 'a.log'],
      ['log', `${lines}!`, 'b.log'],
    ]);
    const form = new FormData();
    form.append('metadata', JSON.stringify({ ...metadata, number: 813 }));
    form.append('log', new Blob([lines]), 'a.log');
    form.append('log', new Blob([`${lines}?`]), 'b.log');
    const encoded = new Request('http://x/', { method: 'POST', body: form });
    const headers = {
      authorization: `Bearer ${TOKENS.ingest}`,
      'content-type': encoded.headers.get('content-type') ?? '',
    };
    const chunked = await fetch(`${base}/api/builds`, {
      method: 'POST',
      headers,
      body: encoded.body,
      duplex: 'half',
    });

    expect(chunked.status).toBe(202);
    expect([state.archive.get('bld_1/a.log'), state.archive.get('bld_1/b.log')]).toEqual([
      lines,
      `${lines}!`,
    ]);
    expect([state.archive.get('bld_2/a.log'), state.archive.get('bld_2/b.log')]).toEqual([
      lines,
      `${lines}?`,
    ]);
  });
});

describe('an upload with one bad file', () => {
  const zip = makeZip([{ name: 'a.txt', content: 'text' }]);
  test.each<readonly [string, string | Uint8Array, string]>([
    ['an empty report', '', 'junit.xml'],
    ['a report that ends in the middle', REPORT.slice(0, 120), 'junit.xml'],
    [
      'a coverage report with a document type',
      '<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD" "report.dtd"><report name="a"/>',
      'jacoco.xml',
    ],
    ['a web page', '<!DOCTYPE html><html><body>Not found</body></html>', 'junit.xml'],
    ['a broken archive', zip.subarray(0, zip.length - 10), 'reports.zip'],
    ['a picture', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0), 'junit.xml'],
  ])('stores all other files: %s', async (_, content, name) => {
    for (const [at, field] of ['report', 'artifact'].entries()) {
      const answer = await sendForm([
        ['metadata', { ...metadata, number: 900 + at }],
        ['log', LOG, 'build.log'],
        [field, content, name],
        ['report', REPORT, 'good.xml'],
      ]);
      expect(answer.status).toBe(202);
      const { buildId } = answer.json;
      expect(state.archive.get(`${buildId}/build.log`)).toBe(LOG);
      expect(state.results.get(buildId)?.map((result) => result.status)).toContain('failed');
    }
  });

  test.each(['DB_PASSWORD=Winter2026', 'curl -u user:passw0rd99', 'mysql -pXyzzy123'])(
    'hides a secret in a report, which can still be parsed: %s',
    async (said) => {
      const report = `<testsuite><testcase name="one"><failure message="no">${said}</failure></testcase><testcase name="two"><failure message="${said}"/></testcase></testsuite>`;
      const answer = await sendForm([
        ['metadata', metadata],
        ['log', LOG, 'build.log'],
        ['report', report, 'junit.xml'],
      ]);
      expect(answer.status).toBe(202);
      expect(state.results.get(answer.json.buildId)?.map(({ name, status }) => [name, status])).toEqual([
        ['one', 'failed'],
        ['two', 'failed'],
      ]);
      const kept = state.archive.get(`${answer.json.buildId}/junit.xml`) ?? '';
      expect(kept).toContain('***</failure>');
      expect(kept).not.toContain(said);
    },
  );
});

describe('a repeated upload', () => {
  const upload = { metadata, logs: [{ name: 'build.log', text: LOG }] };

  test('with the same key and content gets the same answer and changes nothing', async () => {
    const first = await sendJson(upload, { 'idempotency-key': 'run-812' });
    const second = await sendJson(upload, { 'idempotency-key': 'run-812' });

    expect([second.status, second.json]).toEqual([202, first.json]);
    expect([state.deliveries.length, state.enqueued.length]).toEqual([1, 1]);
  });

  test('without a key is recognized by its content, as a form or as JSON', async () => {
    const first = await sendJson(upload);
    const second = await sendForm([
      ['metadata', metadata],
      ['log', LOG, 'build.log'],
    ]);

    expect([second.status, second.json]).toEqual([202, first.json]);
  });

  test('with the same key and different content is refused', async () => {
    await sendJson(upload, { 'idempotency-key': 'run-812' });
    const other = await sendJson(
      { ...upload, metadata: { ...metadata, number: 813 } },
      { 'idempotency-key': 'run-812' },
    );

    expect(other.status).toBe(409);
    expect(state.builds).toHaveLength(1);
  });

  test('with the same build number and different logs is refused, and the first logs remain', async () => {
    await sendJson(upload);
    const other = await sendJson({ ...upload, logs: [{ name: 'build.log', text: 'something else\n' }] });

    expect(other.status).toBe(409);
    expect(other.json.error.message).toBe(
      'Build 812 of ci was already received with different content or under another Idempotency-Key. Increase "attempt" for a rerun.',
    );
    expect(state.archive.get('bld_1/build.log')).toBe(LOG);
  });

  test('that arrives five times at once becomes one build, with one answer', async () => {
    const { deps, state: kept } = createFakeHttpDeps();
    const put: typeof deps.archive.put = async (...given) => {
      await sleep(50);
      await deps.archive.put(...given);
    };
    const slow = await buildHttp({ ...deps, archive: { ...deps.archive, put } });
    const headers = { authorization: `Bearer ${TOKENS.ingest}` };
    const send = () => slow.inject({ method: 'POST', url: '/api/builds', headers, payload: upload });
    const answers = await Promise.all(Array.from({ length: 5 }, send));
    await slow.close();

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(5).fill(202));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect([kept.builds.length, kept.jobs.length, kept.deliveries.length]).toEqual([1, 1, 1]);
  });

  test('that arrives at once with different content is stored once and refused once', async () => {
    const other = { ...upload, logs: [{ name: 'build.log', text: 'something else\n' }] };
    const answers = await Promise.all([sendJson(upload), sendJson(other)]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409]);
    expect([state.builds.length, state.deliveries.length]).toEqual([1, 1]);
  });

  test('with an invalid key is refused', async () => {
    expect((await sendJson(upload, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
  });
});

describe('an unusual log', () => {
  const cut = gzipSync(
    `${LOG}${Array.from({ length: 5_000 }, (_, n) => `line ${n} ${(n * n) % 977}\n`).join('')}`,
  ).subarray(0, -40);
  test.each<[string, Uint8Array]>([
    ['UTF-16LE with its mark', Buffer.from(`\ufeff${LOG}`, 'utf16le')],
    ['UTF-16BE without its mark', Buffer.from(LOG, 'utf16le').swap16()],
    ['cut in a character', Buffer.from(`${LOG}für`).subarray(0, -2)],
    ['cut in a gzip member', cut],
    ['Latin-1 at its end', Buffer.concat([Buffer.from(`✓\n${LOG}`), Buffer.from('für\n', 'latin1')])],
    ['in Markdown', Buffer.from(`The build is red:\n\`\`\`\n${LOG}\`\`\`\n`)],
  ])('is stored as text: %s', async (_what, content) => {
    const answer = await sendForm([
      ['metadata', metadata],
      ['log', content, 'build.log'],
    ]);

    expect(answer.status).toBe(202);
    expect([...state.archive.values()].join('\n')).toContain('FAIL src/cart.test.ts\n  expected 10.20');
  });
});

test('each log and report of an uploaded archive is stored as one source, with the results of its reports', async () => {
  const report =
    '<testsuite name="S"><testcase name="a"/><testcase name="b"><failure message="no"/></testcase></testsuite>';
  const zip = makeZip([
    { name: '0_build.txt', content: LOG },
    { name: 'reports/junit.xml', content: report },
    { name: 'reports/broken.xml', content: '<testsuite><testcase' },
  ]);
  const answer = await sendForm([
    ['metadata', metadata],
    ['log', zip, 'logs.zip'],
  ]);

  expect(answer.status).toBe(202);
  expect([...state.archive.keys()].sort()).toEqual([
    'bld_1/logs.zip/0_build.txt',
    'bld_1/logs.zip/reports/broken.xml',
    'bld_1/logs.zip/reports/junit.xml',
  ]);
  expect(state.archive.get('bld_1/logs.zip/0_build.txt')).toBe(LOG);
});

test('NUL and invalid UTF-8 are accepted, and invalid bytes are shown as U+FFFD', async () => {
  const bytes = Buffer.concat([
    Buffer.from('error: a line with some bytes in it that are no text at all: '),
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.from(' end\n'),
  ]);
  const answer = await sendForm([
    ['metadata', metadata],
    ['log', bytes, 'build.log'],
  ]);

  expect(answer.status).toBe(202);
  expect(state.archive.get('bld_1/build.log')).toMatch(/at all: \ufffd+ end\n$/);
});

test('a form part without a file name is stored as a log', async () => {
  const part = (name: string, text: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n${text}\r\n`;
  const payload = [
    part('metadata', `\r\n${JSON.stringify({ ...metadata, number: 9001 })}`),
    part('log', `content-type: text/plain\r\n\r\n${LOG}`),
    '--b--\r\n',
  ];
  const headers = {
    'content-type': 'multipart/form-data; boundary=b',
    authorization: `Bearer ${TOKENS.ingest}`,
  };
  const answer = await app.inject({ method: 'POST', url: '/api/builds', headers, payload: payload.join('') });

  expect(answer.statusCode, answer.body).toBe(202);
});

test('an upload fails with 503 while the store is down, and succeeds afterwards', async () => {
  const down = await buildHttp(createEmptyHttpDeps());
  const request = {
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
  } as const;
  const answer = await down.inject({
    ...request,
    payload: { metadata, logs: [{ name: 'a.log', text: LOG }] },
  });
  await down.close();

  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
  expect((await sendJson({ metadata, logs: [{ name: 'a.log', text: LOG }] })).status).toBe(202);
});

test('a form accepts as many files of one kind as JSON does', async () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ name: `${at}.log`, text: `FAIL src/cart.test.ts ${at}\n` }));
  const form = (count: number): Part[] => files(count).map(({ name, text }) => ['log', text, name]);
  expect((await sendForm([['metadata', metadata], ...form(200)])).status).toBe(202);
  expect((await sendJson({ metadata: { ...metadata, number: 813 }, logs: files(200) })).status).toBe(202);
  for (const answer of [
    await sendForm([['metadata', { ...metadata, number: 814 }], ...form(201)]),
    await sendJson({ metadata: { ...metadata, number: 815 }, logs: files(201) }),
  ])
    expect(answer.status).toBe(400);
});
