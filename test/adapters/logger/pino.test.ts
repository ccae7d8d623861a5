import { describe, expect, it } from 'vitest';
import { createPinoLogger } from '../../../src/adapters/logger/pino.ts';
import { TriageError } from '../../../src/domain/errors.ts';

const TOKEN = 'hunter2-is-the-token-of-the-service';

function record(level = 'debug') {
  const lines: string[] = [];
  const logger = createPinoLogger(level, { known: [TOKEN], to: { write: (line) => void lines.push(line) } });
  const last = (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? '{}');
  return { logger, lines, last };
}

describe('a log line', () => {
  it('is one JSON object with time, level, fields and a sentence', () => {
    const { logger, lines, last } = record('info');
    logger.child({ jobId: 'job_1' }).warn({ buildId: 'bld_1', count: 3, none: null }, 'triage failed');
    logger.debug({}, 'not asked for');
    expect(last()).toEqual({
      level: 'warn',
      time: expect.stringMatching(/Z$/),
      jobId: 'job_1',
      buildId: 'bld_1',
      count: 3,
      none: null,
      msg: 'triage failed',
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.match(/\n/g)).toHaveLength(1);
  });

  it('is valid Unicode, whatever its text and wherever it is cut', () => {
    const { logger, last } = record();
    logger.info({ short: '\ud800', long: '\u{1f600}'.repeat(4_001).slice(1) }, 'half \udc00');
    expect(last()).toMatchObject({
      short: '\ufffd',
      long: expect.stringMatching(/^\ufffd/),
      msg: 'half \ufffd',
    });
    expect(Object.values(last()).every((text) => String(text).isWellFormed())).toBe(true);
  });

  it('has the ids of the current request and job, also if another module writes it', async () => {
    const { logger, lines } = record();
    const elsewhere = logger.child({ part: 'tool' });
    await logger.within?.({ requestId: 'r1', jobId: 'outer' }, async () => {
      await Promise.resolve();
      elsewhere.info({}, 'inside');
      logger.within?.({ traceId: 't1', jobId: 'inner' }, () => elsewhere.info({ traceId: 'own' }, 'deeper'));
    });
    elsewhere.info({}, 'outside');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { requestId: 'r1', jobId: 'outer', part: 'tool' },
      { requestId: 'r1', jobId: 'inner', traceId: 'own' },
      { part: 'tool', msg: 'outside' },
    ]);
    expect(lines[2]).not.toContain('requestId');
  });
});

describe('T58: a secret', () => {
  it('that is configured appears in no line, in no encoding', () => {
    const { logger, lines } = record();
    const error = new TriageError(
      'upstream-failed',
      `GET https://x/?key=${encodeURIComponent(TOKEN)} failed`,
      {
        details: { header: `Basic ${Buffer.from(`user:${TOKEN}`).toString('base64')}` },
        cause: Object.assign(new Error(`sent ${TOKEN}`), {
          request: { headers: { authorization: `Bearer ${TOKEN}` } },
        }),
      },
    );
    logger.error(
      { error, deep: { list: [{ text: `a ${TOKEN} b` }] }, hex: Buffer.from(TOKEN).toString('hex') },
      `it failed with ${TOKEN}`,
    );
    logger.child({ url: new URL(`https://u:${TOKEN}@host/`) }).info({}, 'bound');
    logger.within?.({ note: TOKEN }, () => logger.info({}, 'around'));
    const all = lines.join('');
    for (const spelling of [
      TOKEN,
      encodeURIComponent(TOKEN),
      Buffer.from(`user:${TOKEN}`).toString('base64'),
      Buffer.from(TOKEN).toString('hex'),
    ]) {
      expect(all).not.toContain(spelling);
    }
    expect(all).toContain('GET https://x/?key=***');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['it failed with ***', 'bound', 'around']);
  });

  it('that is not configured is recognized by its form or by the name of its field', () => {
    const { logger, lines } = record();
    const github = `ghp_${'aB3dE5gH7'.repeat(4)}`;
    const names = [
      'authorization',
      'Proxy-Authorization',
      'x-api-key',
      'apiKey',
      'api_key',
      'token',
      'accessToken',
      'secretKey',
      'set-cookie',
      'password',
      'clientSecret',
      'privateKey',
    ];
    const fields = Object.fromEntries(names.map((name) => [name, 'correct horse battery']));
    logger.info(
      {
        ...fields,
        request: { headers: { ...fields } },
        nested: { token: { value: 'correct horse battery' } },
      },
      `pushed with ${github}`,
    );
    logger.info(
      {
        url: 'postgres://faultline:correcthorse99@db/faultline',
        text: `Authorization: Bearer q8Zr1Lw0Kd7Yt3Mn5Xc2Vb9Pq4`,
      },
      'connected',
    );
    const all = lines.join('');
    expect(all).not.toMatch(/correct horse battery|correcthorse99|ghp_|q8Zr1/);
    expect(all).toContain('postgres://faultline:***@db/faultline');
  });

  it('is not suspected in counts and ids, which stay unmasked', () => {
    const { logger, last } = record();
    const fields = {
      inputTokens: 12,
      tokens: 3,
      budgetTokens: 2000,
      traceId: 'a3'.repeat(16),
      requestId: '0b6c9a5e-0c5e-4a4f-9d60-1f0a2b3c4d5e',
      commit: '4f'.repeat(20),
      tokenCount: 'seven',
    };
    logger.info(fields, 'analysis saved');
    expect(last()).toMatchObject(fields);
  });
});

describe('an error in a log line', () => {
  it('is written with type, code, message, stack and causes, but without its other properties', () => {
    const { logger, last } = record();
    const cause = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      response: { body: 'Neuromancer' },
    });
    logger.error(
      {
        error: new TriageError('storage-failed', 'The database does not answer', { retryable: true, cause }),
      },
      'failed',
    );
    expect(last().error).toMatchObject({
      type: 'TriageError',
      code: 'storage-failed',
      retryable: true,
      message: 'The database does not answer',
      stack: expect.stringContaining('pino.test.ts'),
      cause: { type: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
    });
    expect(JSON.stringify(last())).not.toContain('Neuromancer');
  });

  it('may be its own cause, enormous, or impossible to serialize', () => {
    const { logger, lines, last } = record();
    const round = new Error('round');
    round.cause = round;
    const circle: Record<string, unknown> = {
      big: 'x'.repeat(1e6),
      bytes: new Uint8Array(5),
      many: new Array(1e4).fill('y'),
      n: 5n,
    };
    circle.circle = circle;
    logger.error({ error: round, ...circle }, 'round');
    logger.info(
      {
        get boom() {
          throw new Error('no');
        },
      },
      'getter',
    );
    logger.info(new Error('bare'), 'an error for fields');
    expect(lines).toHaveLength(3);
    expect(lines.every((line) => line.length < 100_000)).toBe(true);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['round', 'getter', 'an error for fields']);
    expect(last()).toMatchObject({ error: { message: 'bare' } });
  });
});
