import type { Difference, FieldDifference, Place } from './difference.ts';

const NODES = {
  classify: 'classify',
  plan: 'reason',
  chooseTools: 'select_tool',
  correctCall: 'the correction of a call',
  answer: 'generate_answer',
  verify: 'verify',
} as const;
const SHOWN_FIELDS = 3;

/** One difference in a sentence for people, on one line; it quotes what was recorded, so it is for neutral ground. */
export function describeDifference(difference: Difference): string {
  return sentence(difference).replace(/\s+/g, ' ');
}

function sentence(difference: Difference): string {
  switch (difference.what) {
    case 'limits':
      return `the limits of the run differ: ${fieldsText(difference.fields)}`;
    case 'analyst':
      return `a different analyst is configured: ${difference.before} → ${difference.after}`;
    case 'input':
      return `${placeText(difference.at)} receives different input: ${difference.parts.join(', ')}`;
    case 'prompt':
      return `${placeText(difference.at)} has a different prompt: ${difference.before ?? 'none'} → ${difference.after ?? 'none'}`;
    case 'shown':
      return `${placeText(difference.at)} shows the model different input with the same prompt: ${difference.before} → ${difference.after}`;
    case 'model':
      return `a different model is configured: ${difference.before ?? 'none'} → ${difference.after}`;
    case 'rule':
      return `the rules decide differently in ${placeText(difference.at)}: ${fieldsText(difference.fields)}`;
    case 'judgement-not-recorded':
      return `${placeText(difference.at)} is called, but was not when recorded`;
    case 'judgement-unreadable':
      return `${placeText(difference.at)} has a recorded answer that cannot be read: ${difference.why}`;
    case 'call-not-recorded':
      return `${difference.tool} is called, but was not when recorded: ${difference.args}`;
    case 'tools':
      return `the tools for ${difference.category} differ: ${toolsText(difference)}`;
    case 'analysis':
      return `the answer differs: ${fieldsText(difference.fields)}`;
  }
}

function placeText({ name, role, round, investigator }: Place): string {
  const who = [...(role === 'spare' ? ['the fallback analyst'] : []), ...(investigator === null ? [] : [`investigator ${investigator}`])];
  return `${NODES[name]}${round === 0 ? '' : ` of round ${round}`}${who.length === 0 ? '' : ` (${who.join(', ')})`}`;
}

function fieldsText(fields: readonly FieldDifference[]): string {
  const shown = fields.slice(0, SHOWN_FIELDS).map(({ path, before, after }) => `${path} ${before ?? 'absent'} → ${after ?? 'absent'}`);
  return `${shown.join('; ')}${fields.length > SHOWN_FIELDS ? `; and ${fields.length - SHOWN_FIELDS} more` : ''}`;
}

function toolsText({ gone, added }: Extract<Difference, { what: 'tools' }>): string {
  return [...(gone.length === 0 ? [] : [`${gone.join(', ')} gone`]), ...(added.length === 0 ? [] : [`${added.join(', ')} new`])].join('; ');
}
