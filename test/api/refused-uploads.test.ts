import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { TEST_CONFIG, TOKENS } from '../support/http-deps.ts';
import { makeZip } from '../support/make-zip.ts';
import {
  base,
  LOG,
  metadata,
  type Part,
  sendForm,
  sendJson,
  serveUploads,
  state,
} from '../support/uploads.ts';

serveUploads();

const BINARY = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, ...Array(500).fill(1)]);
const BOMB = gzipSync(Buffer.alloc(TEST_CONFIG.http.maxLogBytes + 1, 'a'));
const HALF_BOMB = gzipSync(Buffer.alloc(Math.ceil(TEST_CONFIG.http.maxLogBytes * 0.6), 'a'));
const ENTITIES =
  '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>';
const EXTERNAL =
  '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"/></testsuite>';

describe('invalid input is refused with the right status and a sentence, is logged, and stores nothing', () => {
  const withLog = (content: string | Uint8Array): Part[] => [
    ['metadata', metadata],
    ['log', content, 'build.log'],
  ];
  const withReport = (content: string): Part[] => [
    ['metadata', metadata],
    ['report', content, 'junit.xml'],
  ];

  test.each<[string, Part[], number, RegExp]>([
    ['an empty log', withLog(''), 400, /No content in build\.log/],
    ['a log of blanks', withLog(' \n\n'), 400, /No content in/],
    ['no log at all', [['metadata', metadata]], 400, /no log or report/],
    ['a binary log', withLog(BINARY), 415, /ELF program/],
    ['a broken zip', withLog(Uint8Array.from([0x50, 0x4b, 3, 4, 0, 0])), 400, /zip archive/],
    ['a zip with no log in it', withLog(makeZip([{ name: 'a.png', content: 'x' }])), 415, /no log or report/],
    ['broken gzip', withLog(gzipSync(LOG).subarray(0, 12)), 400, /broken gzip/],
    ['a gzip bomb', withLog(BOMB), 413, /larger than the limit/],
    ['two half bombs', [...withLog(HALF_BOMB), ['log', HALF_BOMB, 'more.log']], 413, /larger than the limit/],
    ['broken XML', withReport('<testsuite><testcase name="a">'), 400, /junit\.xml/],
    ['XML that is no report', withReport('<html><body/></html>'), 400, /junit\.xml/],
    ['XML with entities', withReport(ENTITIES), 400, /junit\.xml/],
    ['XML with an external entity', withReport(EXTERNAL), 400, /junit\.xml/],
    ['no metadata', [['log', LOG, 'build.log']], 400, /no "metadata"/],
    [
      'metadata that is no JSON',
      [
        ['metadata', '{repository'],
        ['log', LOG, 'build.log'],
      ],
      400,
      /not valid JSON/,
    ],
    ['metadata without what it must have', [['metadata', {}]], 400, /"repository"/],
    [
      'metadata that would reach a prototype',
      [['metadata', '{"__proto__":{"admin":true}}']],
      400,
      /not valid JSON/,
    ],
    ['metadata that is endless', [['metadata', `{"a":"${'x'.repeat(70_000)}"}`]], 413, /64 kB/],
    [
      'an unknown field',
      [
        ['metadata', metadata],
        ['logs', LOG, 'build.log'],
      ],
      400,
      /"logs"/,
    ],
    [
      'a field named like a prototype',
      [
        ['metadata', metadata],
        ['__proto__', 'x', 'a.log'],
      ],
      400,
      /./,
    ],
    ['more than the limit', withLog('x'.repeat(TEST_CONFIG.http.maxBodyBytes)), 413, /limit/],
  ])('%s', async (_what, parts, status, message) => {
    const answer = await sendForm(parts);

    expect([answer.status, answer.json.error?.message]).toEqual([status, expect.stringMatching(message)]);
    expect(answer.json.error.message).toMatch(/[.?]$/);
    expect([state.builds, state.jobs, state.deliveries]).toEqual([[], [], []]);
    expect(state.archive.size).toBe(0);
    expect(
      state.log.some((line) => line.message === 'request refused' && line.fields.status === status),
    ).toBe(true);
  });

  test.each<[string, string, number]>([
    ['broken JSON', '{"metadata":', 400],
    ['nothing', '', 400],
    [
      'a key that would reach a prototype',
      `{"metadata":${JSON.stringify(metadata)},"__proto__":{"admin":true}}`,
      400,
    ],
    ['ten thousand levels', `{"metadata":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_001)}`, 400],
    [
      'text and base64 at once',
      JSON.stringify({ metadata, logs: [{ name: 'a', text: 'a', base64: 'YQ==' }] }),
      400,
    ],
    ['what is not base64', JSON.stringify({ metadata, logs: [{ name: 'a', base64: '%%%' }] }), 400],
    ['a log of the wrong type', JSON.stringify({ metadata, logs: [{ name: 'a', text: 7 }] }), 400],
    [
      'more than the limit',
      JSON.stringify({ metadata, logs: [{ name: 'a', text: 'x'.repeat(TEST_CONFIG.http.maxBodyBytes) }] }),
      413,
    ],
  ])('JSON: %s', async (_what, body, status) => {
    const answer = await sendJson(body);

    expect(answer.status).toBe(status);
    expect(answer.json.error.message).toMatch(/[.?]$/);
    expect(state.builds).toEqual([]);
  });

  test.each([
    ['text/plain', 415],
    ['application/xml', 415],
    ['multipart/form-data', 400],
    ['application/x-www-form-urlencoded', 415],
  ])('content type %s', async (type, status) => {
    const answer = await sendJson('x', { 'content-type': type });

    expect(answer.status).toBe(status);
    expect(answer.json.error.message).toMatch(/\.$/);
  });

  test('a form that breaks off is closed, and the next upload works', async () => {
    const { hostname, port } = new URL(base);
    const head = `POST /api/builds HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.ingest}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 5000\r\n\r\n`;
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `${head}--b\r\ncontent-disposition: form-data; name="log"; filename="a.log"\r\n\r\nhalf of`,
        );
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => resolve());
      socket.on('error', reject);
    });

    expect((await sendForm(withLog(LOG))).status).toBe(202);
  });

  test('a refusal contains no stack and no path', async () => {
    const answer = await sendForm(withLog(BOMB));

    expect(answer.text).not.toMatch(/node_modules|\.ts:|at /);
  });
});
