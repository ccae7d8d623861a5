import { type Judged, judge } from './scripted-judgements.ts';
import type { ScriptedBody } from './scripted-model.ts';

/** The calls of each round: the ends of the output first, then a search and the log by lines. */
const ROUNDS = [
  [
    { tool: 'read_console_output', args: { lines: 80 } },
    { tool: 'read_build_log', args: { context: 40 } },
    { tool: 'diff_with_green', args: {} },
  ],
  [
    { tool: 'grep_log', args: { text: 'error|fail|cannot', pattern: true, ignoreCase: true, context: 2 } },
    { tool: 'view_log', args: { from: 1, to: 200 } },
    { tool: 'read_artifact', args: {} },
  ],
] as const;

/**
 * Returns the judgment of a model that looks at everything that a log's tools show, whatever it is asked
 * about. The other judgments are those of {@link judge}.
 */
export function judgeCuriously(body: ScriptedBody): Judged {
  if (body.response_format?.json_schema?.name !== 'reason') return judge(body, ROUNDS.length + 1);
  const prompt = body.messages.map(({ content }) => content ?? '').join('\n');
  const calls = ROUNDS[Number(/\bround: (\d+)/.exec(prompt)?.[1] ?? 1) - 1] ?? [];
  const listed = calls.filter(({ tool }) => prompt.includes(`\n- ${tool}(`));
  const plan = {
    thought: 'It is asked what the log shows.',
    gaps: [],
    revised: null,
    confidence: listed.length === 0 ? 0.9 : 0.55,
    next: listed.length === 0 ? 'answer' : 'look',
    calls: listed.map(({ tool, args }) => ({ tool, args: JSON.stringify(args), why: 'to see it' })),
  };
  return { text: JSON.stringify(plan), calls: [] };
}
