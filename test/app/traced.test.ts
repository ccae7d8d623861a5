import {
  ATTR_CICD_PIPELINE_NAME,
  ATTR_CICD_PIPELINE_RESULT,
  ATTR_CICD_PIPELINE_RUN_ID,
  ATTR_CICD_PIPELINE_RUN_URL_FULL,
  ATTR_CICD_PIPELINE_TASK_NAME,
  ATTR_VCS_CHANGE_ID,
  ATTR_VCS_OWNER_NAME,
  ATTR_VCS_PROVIDER_NAME,
  ATTR_VCS_REF_HEAD_NAME,
  ATTR_VCS_REF_HEAD_REVISION,
  ATTR_VCS_REPOSITORY_NAME,
  CICD_PIPELINE_RESULT_VALUE_FAILURE,
} from '@opentelemetry/semantic-conventions/incubating';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOpenTelemetryTracer } from '../../src/adapters/tracer/opentelemetry.ts';
import { traceChatModel, traceToolbox, watchTriage } from '../../src/app/instrumentation.ts';
import { findReceiver } from '../../src/app/open-telemetry.ts';
import { COMMON } from '../../src/config/schema.ts';
import type { Build } from '../../src/domain/build.ts';
import type { WorkItem } from '../../src/domain/work.ts';
import { createOpenAiChatModel } from '../../src/models/chat/openai.ts';
import { silentLogger, type Tracer } from '../../src/ports/telemetry.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../support/openai-server.ts';
import { sampleBuild } from '../support/sample-analysis.ts';
import { startSpanReceiver } from '../support/span-receiver.ts';
import { sampleSubject } from '../support/subject.ts';
import { createTool, finding, flaky } from '../tools/sample-tools.ts';

let receiver: Awaited<ReturnType<typeof startSpanReceiver>>;
let server: OpenAiServer;
let tracer: Tracer;
beforeEach(async () => {
  receiver = await startSpanReceiver();
  server = await startOpenAiServer();
  const to = { url: `${receiver.url}/v1/traces`, headers: {} };
  tracer = createOpenTelemetryTracer({ serviceName: 'faultline', receiver: to, logger: silentLogger });
});
afterEach(async () => {
  await receiver.close();
  await server.close();
});

const signal = new AbortController().signal;
const question = {
  system: 'the system prompt Wintermute',
  user: 'the log Neuromancer',
  name: 'classification',
  schema: {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  },
  parse: (value: unknown) => value,
};

function createModel() {
  const { baseUrl } = server;
  return traceChatModel(
    createOpenAiChatModel({
      baseUrl,
      apiKey: TEST_KEY,
      model: 'gpt-4o-mini',
      timeoutMs: 5_000,
      maxRetries: 0,
    }),
    tracer,
  );
}

describe('a call to a model', () => {
  it('is a chat span with model and tokens, and without the prompt', async () => {
    server.script({ do: 'reply', value: { ok: true } });
    const reply = await createModel().ask(question, signal);
    await tracer.flush(5_000);

    const [span] = receiver.spans();
    expect(span).toMatchObject({ name: 'chat gpt-4o-mini', kind: 3 });
    expect(span?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.response.model': reply.model,
      'gen_ai.usage.input_tokens': reply.inputTokens,
      'gen_ai.usage.output_tokens': reply.outputTokens,
      'faultline.question': 'classification',
    });
    expect(receiver.text()).not.toMatch(/Wintermute|Neuromancer/);
  });

  it.each([
    ['https://api.anthropic.example/v1/messages', 'anthropic'],
    ['http://models.example/api/chat', 'ollama'],
  ])('to %s names %s as its provider', async (baseUrl, provider) => {
    const asked = traceChatModel(
      createOpenAiChatModel({ baseUrl, apiKey: TEST_KEY, model: 'm', timeoutMs: 5_000, maxRetries: 0 }),
      tracer,
    ).ask(question, AbortSignal.abort());
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    await tracer.flush(5_000);
    expect(receiver.spans()[0]?.attributes).toMatchObject({ 'gen_ai.provider.name': provider });
  });

  it('is a span with the kind of its error if it fails', async () => {
    server.script({ do: 'status', status: 401, error: { message: 'wrong key', code: 'invalid_api_key' } });
    await expect(createModel().ask(question, signal)).rejects.toMatchObject({ code: 'upstream-auth' });
    await tracer.flush(5_000);
    expect(receiver.spans()[0]).toMatchObject({
      attributes: { 'error.type': 'upstream-auth' },
      status: { code: 2 },
    });
  });
});

describe('a call to a tool', () => {
  it('is an execute_tool span with its outcome', async () => {
    const tools = [
      createTool('good', async () => [{ ...finding, text: 'Neuromancer' }]),
      createTool('bad', async () => {
        throw flaky(60_000);
      }),
    ];
    const box = traceToolbox(
      createToolbox(tools, { mask: (text) => text, resilience: { firstDelayMs: 1 } }),
      tracer,
    );
    for (const name of ['good', 'bad', 'made up by a model: Wintermute']) {
      await box.run(
        { tool: name, args: { path: 'Neuromancer' }, why: 'Wintermute' },
        sampleSubject(),
        'CODE_ERROR',
        signal,
      );
    }
    await tracer.flush(5_000);

    const [good, bad, unknown] = receiver.spans();
    expect(good).toMatchObject({ name: 'execute_tool good', status: {} });
    expect(good?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'good',
      'gen_ai.tool.call.id': expect.stringMatching(/^call_/),
      'faultline.tool.status': 'ok',
      'faultline.tool.findings': 1,
    });
    expect(bad).toMatchObject({ attributes: { 'error.type': 'failed' }, status: { code: 2 } });
    expect(unknown?.name).toBe('execute_tool unknown');
    expect(receiver.text()).not.toMatch(/Wintermute|Neuromancer/);
  });
});

describe('the receiver of spans', () => {
  it('is absent unless an address is set', () => {
    expect(findReceiver(COMMON.tracing)).toBeUndefined();
  });

  it("is read from OpenTelemetry's variables, with its headers", () => {
    const headers = 'X-Key=a%20b, broken,other = c=d';
    expect(findReceiver({ endpoint: 'http://collector:4318/', headers, serviceName: 's' })).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: { 'x-key': 'a b', other: 'c=d' },
    });
  });

  it('may be Langfuse, with its keys in a header', () => {
    const basic = Buffer.from('pk-lf-1:sk-lf-2').toString('base64');
    const headers = `Authorization=Basic ${basic},x-langfuse-ingestion-version=4`;
    const endpoint = 'https://langfuse.example/api/public/otel';
    expect(findReceiver({ endpoint, headers, serviceName: 's' })).toEqual({
      url: 'https://langfuse.example/api/public/otel/v1/traces',
      headers: { authorization: `Basic ${basic}`, 'x-langfuse-ingestion-version': '4' },
    });
  });
});

describe('the span of a triage', () => {
  const item = {
    topic: 'triage',
    key: 'bld_1',
    payload: {},
    attempts: 1,
    retries: 0,
    dueAt: '2026-10-12T14:00:00.000Z',
    changedAt: '2026-10-12T14:00:01.000Z',
  } as WorkItem;
  const watch = async (changes: Partial<Build>, retries = 0) => {
    const stores = { builds: { find: async () => sampleBuild(changes) } };
    await watchTriage({ ...item, retries }, { tracer, logger: silentLogger, stores }, async () => undefined);
    await tracer.flush(5_000);
    return receiver.spans().find(({ name }) => name === 'triage build')?.attributes ?? {};
  };

  it("has the attributes of OpenTelemetry's conventions for CI/CD and version control", async () => {
    const attributes = await watch({ provider: 'github', job: 'test (20)', pullRequest: 7 });

    expect(attributes).toMatchObject({
      [ATTR_CICD_PIPELINE_NAME]: 'ci',
      [ATTR_CICD_PIPELINE_RUN_ID]: '9001',
      [ATTR_CICD_PIPELINE_RUN_URL_FULL]: 'https://ci.example/shop/api/812',
      [ATTR_CICD_PIPELINE_RESULT]: CICD_PIPELINE_RESULT_VALUE_FAILURE,
      [ATTR_CICD_PIPELINE_TASK_NAME]: 'test (20)',
      [ATTR_VCS_PROVIDER_NAME]: 'github',
      [ATTR_VCS_OWNER_NAME]: 'shop',
      [ATTR_VCS_REPOSITORY_NAME]: 'api',
      [ATTR_VCS_CHANGE_ID]: '7',
    });
    expect(Object.keys(attributes)).toEqual(
      expect.arrayContaining([ATTR_VCS_REF_HEAD_NAME, ATTR_VCS_REF_HEAD_REVISION]),
    );
  });

  it('follows a span for the time before its first attempt, but not before a retry', async () => {
    const countWaits = () => receiver.spans().filter(({ name }) => name === 'queue wait').length;
    await watch({});
    expect(countWaits()).toBe(1);
    await watch({}, 1);
    expect(countWaits()).toBe(1);
  });

  it('omits what the build does not name', async () => {
    const attributes = await watch({ provider: 'upload', repository: 'api', url: null, branch: null });

    expect(attributes[ATTR_VCS_REPOSITORY_NAME]).toBe('api');
    for (const name of [ATTR_VCS_OWNER_NAME, ATTR_VCS_PROVIDER_NAME, ATTR_VCS_REF_HEAD_NAME])
      expect(attributes).not.toHaveProperty([name]);
  });
});
