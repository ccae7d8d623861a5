import { expect, it } from 'vitest';
import { createEventStream } from '../../../src/api/ask-routes.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import { createGate } from '../../../src/service/ask/ask.ts';

async function readText(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

it('events are sent in order, and done is the last', async () => {
  const stream = createEventStream(
    async (emit) => emit('text', { text: 'a\nb' }),
    () => undefined,
  );
  expect(await readText(stream)).toBe(
    ': begins\n\nevent: text\ndata: {"text":"a\\nb"}\n\nevent: done\ndata: {}\n\n',
  );
});

it('a known error is reported with its message, and an unexpected one without', async () => {
  const refused = createEventStream(
    async () => Promise.reject(new TriageError('timeout', 'No answer within 1 s.', { retryable: true })),
    () => undefined,
  );
  expect(await readText(refused)).toContain(
    'event: error\ndata: {"code":"timeout","message":"No answer within 1 s.","retryable":true}\n\nevent: done',
  );
  const logged: unknown[] = [];
  const broken = await readText(
    createEventStream(
      async () => Promise.reject(new Error('password=hunter2')),
      (error) => void logged.push(error),
    ),
  );
  expect(broken).toContain('"code":"internal"');
  expect(broken).not.toContain('hunter2');
  expect(logged).toHaveLength(1);
});

it('the work is aborted if the client disconnects', async () => {
  const cancelled = Promise.withResolvers<string>();
  const stream = createEventStream(
    (_emit, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          cancelled.resolve('cancelled');
          reject(signal.reason);
        });
      }),
    () => cancelled.resolve('told as an error'),
  );
  stream.destroy();
  expect(await cancelled.promise).toBe('cancelled');
});

it('the number of simultaneous questions is limited, and each releases its place once', () => {
  const gate = createGate(2);
  const leave = gate.enter();
  gate.enter();
  expect(() => gate.enter()).toThrow('2 questions are already being answered');
  leave();
  leave();
  gate.enter();
  expect(() => gate.enter()).toThrow('2 questions');
});
