import { describe, expect, it } from 'vitest';
import { compileAskGraph } from '../../../graphs/ask/graph.ts';
import { checkStatements } from '../../../graphs/ask/nodes/check-citations.ts';
import { computeRecursionLimit } from '../../../graphs/ask/routes.ts';
import type { AskStateValue } from '../../../graphs/ask/state.ts';
import type { Statement } from '../../../src/domain/conversation.ts';
import type { ToolCall } from '../../../src/domain/evidence.ts';
import { systemClock } from '../../../src/lib/time.ts';
import type { TextPiece } from '../../../src/ports/analyst.ts';
import type { Person } from '../../../src/ports/toolbox.ts';
import { sampleTopic } from '../../support/ask-topic.ts';
import { createScriptedAnalyst, type Script } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox, type Reply } from '../../support/scripted-toolbox.ts';

const topic = sampleTopic();
const known = topic.analysis.evidence;
const first = known[0];
const call = (tool: string, args: Record<string, unknown> = {}): ToolCall => ({ tool, args, why: 'to know' });
const hit = (text: string): Reply => ({
  status: 'ok',
  findings: [{ title: 'a hit', text, source: 'history/shop/api' }],
});
const said = (text: string, evidence: string[], quotes: Statement['quotes'] = []): Statement => ({
  lead: ' ',
  text,
  evidence,
  quotes,
  basis: evidence.length === 0 ? 'none' : 'evidence',
});

function run(
  script: Script,
  replies: Readonly<Record<string, Reply>> = {},
  onText?: (piece: TextPiece) => void,
  maxRounds = 3,
  person?: Person,
) {
  const toolbox = createScriptedToolbox(replies);
  const { converse } = createScriptedAnalyst(script);
  const input = {
    topic: { ...topic, otherCauses: [] },
    question: 'why?',
    memory: { older: [], recent: [] },
    known: [...known],
    maxRounds,
  };
  const context = { converse, toolbox, clock: systemClock, onStep: undefined, onText, person };
  const state: Promise<AskStateValue> = compileAskGraph().invoke(input, {
    context,
    recursionLimit: computeRecursionLimit(maxRounds),
  });
  return state.then((value) => ({ state: value, toolbox }));
}

const listNodes = (state: AskStateValue) => state.steps.map(({ node }) => node).join(' ');

describe('the ask graph', () => {
  it('answers at once if nothing has to be looked up', async () => {
    const { state } = await run({ replies: [[said('It is so [E1].', ['E1'])]] });
    expect(listNodes(state)).toBe('understand choose_tools compose_answer check_citations');
    expect(state.reply).toHaveLength(1);
    expect(state.usage).toMatchObject({ toolCalls: 0, iterations: 1 });
  });

  it('runs the chosen lookups, and continues the numbering of the evidence', async () => {
    const lookups = [[call('read_failure_history'), call('view_log', { from: 1, to: 2 })], []];
    const replies = { read_failure_history: hit('failed in #640'), view_log: hit('line one') };
    const { state, toolbox } = await run(
      { lookups, replies: [[said('Seen before [E99].', ['E99'])]] },
      replies,
    );
    expect(listNodes(state)).toBe(
      'understand choose_tools execute_tools choose_tools compose_answer check_citations',
    );
    expect(toolbox.calls).toHaveLength(2);
    const last = Math.max(...known.map(({ id }) => Number(id.slice(1))));
    expect(state.found.map(({ id }) => id)).toEqual([`E${last + 1}`, `E${last + 2}`]);
  });

  it('makes at most three rounds of lookups, and none twice', async () => {
    const again = [call('grep_log', { text: 'a' }), call('grep_log', { text: 'a' })];
    const { state, toolbox } = await run(
      {
        lookups: [
          again,
          [...again, call('grep_log', { text: 'b' })],
          [call('grep_log', { text: 'c' })],
          [call('grep_log', { text: 'd' })],
        ],
      },
      { grep_log: hit('x') },
    );
    expect(toolbox.calls.map(({ args }) => args.text)).toEqual(['a', 'b']);
    expect(state.rounds).toBeLessThanOrEqual(3);
    expect(state.steps.at(-1)?.node).toBe('check_citations');
  });

  it('calls only offered tools, whatever the evidence made the model choose', async () => {
    const lookups = [
      [
        call('delete_everything'),
        call('ask_reviewer'),
        call('search_web'),
        call('view_log', { from: 1, to: 1 }),
      ],
      [],
    ];
    const { state, toolbox } = await run(
      { lookups },
      { view_log: hit('x'), ask_reviewer: hit('no'), search_web: hit('no') },
    );
    expect(toolbox.calls.map(({ tool }) => tool)).toEqual(['view_log']);
    expect(state.notes).toEqual(['Not offered, so not used: delete_everything, ask_reviewer, search_web.']);
  });

  it('continues if a tool fails, and passes the failure to the answer', async () => {
    const { state } = await run(
      { lookups: [[call('view_log')], []] },
      { view_log: { status: 'failed', summary: 'it broke' } },
    );
    expect(state.outcomes).toMatchObject([{ status: 'failed', summary: 'it broke' }]);
    expect(state.found).toEqual([]);
    expect(state.steps.at(-1)?.node).toBe('check_citations');
  });

  it('removes statements that cite missing evidence or quote words that it does not contain', async () => {
    const line = first?.text.split('\n')[0] ?? '';
    const quote = { source: first?.source ?? '', line: first?.lineStart ?? 1, text: line };
    const replies = [
      [
        said('Good.', ['E1'], [quote]),
        said('Invented evidence.', ['E77']),
        said('Invented words.', ['E1'], [{ ...quote, text: 'all tests passed' }]),
        said('Invented words without a citation.', [], [{ ...quote, text: 'all tests passed' }]),
        said('No claim at all.', []),
      ],
    ];
    const { state } = await run({ replies });
    expect(state.reply.map(({ text }) => text)).toEqual(['Good.', 'No claim at all.']);
    expect(state.leftOut.map(({ text }) => text)).toEqual([
      'Invented evidence.',
      'Invented words.',
      'Invented words without a citation.',
    ]);
    expect(state.leftOut[0]?.reason).toContain('E77, which does not exist');
  });

  it('streams the answer before it is checked', async () => {
    const pieces: string[] = [];
    await run(
      { replies: [[said('One.', ['E1']), said('Two.', ['E77'])]] },
      {},
      ({ text }) => void pieces.push(text),
    );
    expect(pieces.join('')).toBe(' One. Two.');
  });

  it('asks the person at the keyboard once, and cites the answer', async () => {
    const questions: string[] = [];
    const person: Person = {
      ask: async (question) => {
        questions.push(question);
        return 'The second one.';
      },
    };
    const ask = (question: string) => call('ask_reviewer', { question });
    const lookups = [
      [ask('Which of the two carts is meant?'), ask('And which of the two shops?')],
      [ask('And which of the two taxes?')],
      [],
    ];
    const { state, toolbox } = await run({ lookups }, {}, undefined, 3, person);
    expect(questions).toEqual(['Which of the two carts is meant?']);
    expect(toolbox.calls).toEqual([]);
    expect(state.found).toMatchObject([{ tool: 'ask_reviewer', text: 'The second one.' }]);
    expect(state.notes).toEqual(['Not offered, so not used: ask_reviewer.']);
  });
});

describe('a summary', () => {
  it('may be cited, but its words are no quotation of the file', () => {
    const place = { source: 'src/pay.js', lineStart: 3, lineEnd: 9, score: null } as const;
    const evidence = [
      {
        ...place,
        id: 'E1',
        tool: 'read_file',
        title: 'src/pay.js',
        text: 'function pay() {\n  return 1;\n}',
      },
      {
        ...place,
        id: 'E2',
        tool: 'summarize_text',
        title: 'src/pay.js',
        text: 'It was audited and is safe.',
      },
    ];
    const quotes = [{ source: 'src/pay.js', line: 3, text: 'It was audited and is safe.' }];
    const check = (citations: string[]) =>
      checkStatements([said('The file says so.', citations, quotes)], evidence as never);

    expect(check(['E1', 'E2'])).toEqual(check(['E1']));
  });
});
