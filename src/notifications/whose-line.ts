import { shortCommit } from '../domain/build.ts';
import type { ProvingBuild } from '../domain/failure-history.ts';
import { WHOSE_WORDS, type Whose, type WhoseAct, type WhoseProof } from '../domain/whose.ts';
import { asSentence, counted, formatConfidence } from '../lib/text.ts';
import { buildName, dayWords, type Wording } from './notice-words.ts';
import { clip } from './visible-text.ts';

/** The verdict line in parts. Names are shown by the wording that rendered it. */
export interface WhoseLine {
  /** "Is it me?", or on the default branch "Which change?". */
  readonly question: string;
  /** "No, already red on the default branch", or "Most likely yes, new with this change (95 %)". */
  readonly answer: string;
  /** "`main` fails this way since `ci #790` (12 Oct 2026, a41f9c2 by Ada)"; empty if there is no proof. */
  readonly proof: string;
  /** A sentence: "Rebase when `main` is green." */
  readonly act: string;
}

const RAW: Wording = { plain: (text) => text, code: (text) => text };

/** Words the verdict line; every output shows it, with names in its own way. */
export function whoseLine(whose: Whose, wording: Wording = RAW): WhoseLine {
  const { verdict, isDefault, probability, proof, act } = whose;
  const { sure, likely, onDefault } = WHOSE_WORDS[verdict];
  const words = probability === null ? sure : likely;
  const stated = isDefault ? onDefault : words;
  return {
    question: isDefault ? 'Which change?' : 'Is it me?',
    answer: probability === null ? stated : `${stated} (${formatConfidence(probability)})`,
    proof: proof.map((one) => describeProof(one, isDefault, wording)).join('; '),
    act: describeAct(act, isDefault, wording),
  };
}

/** Returns the verdict line as one text: "Not known yet. Run it again: if it passes, it is flaky." */
export function whoseSentence(whose: Whose, wording?: Wording): string {
  const { answer, proof, act } = whoseLine(whose, wording);
  return `${asSentence(proof === '' ? answer : `${answer}: ${proof}`)} ${act}`;
}

function describeProof(proof: WhoseProof, isDefault: boolean, { plain, code }: Wording): string {
  const name = (build: ProvingBuild) => code(buildName(build));
  switch (proof.what) {
    case 'tried':
      return plain(clip(proof.sentence.replace(/\.$/, ''), 500));
    case 'passed-again':
      return `passed on the same commit in ${name(proof.build)}`;
    case 'fails-on': {
      const row = proof.times > 1 ? `, ${proof.times} builds in a row` : '';
      return `${code(clip(proof.branch, 100))} fails this way since ${name(proof.since)}${describeOrigin(proof.since, plain)}${row}`;
    }
    case 'failed-on':
      return `${code(clip(proof.branch, 100))} failed this way in ${name(proof.build)}${describeOrigin(proof.build, plain)}`;
    case 'pull-requests':
      return `${counted(proof.count, 'other pull request')} had it in the week before`;
    case 'flakes':
      return `flaked in ${Math.round((100 * proof.flakes) / Math.max(1, proof.runs))} % of ${counted(proof.runs, 'run')}`;
    case 'log':
      return 'the failing step says so';
    case 'new-test':
      return 'its test is new here';
    case 'passes-on':
      return isDefault
        ? `passed in ${name(proof.build)}, the build before`
        : `passes on ${code(clip(proof.branch, 100))} (${name(proof.build)}) and was seen nowhere else`;
    case 'passed-before':
      return `passed here in ${name(proof.build)}`;
  }
}

/** Describes when a build was, of which commit and by whom: " (12 Oct 2026, a41f9c2 by Ada)". */
function describeOrigin({ receivedAt, commit, author }: ProvingBuild, plain: Wording['plain']): string {
  const by = author === null ? '' : ` by ${plain(clip(author, 100))}`;
  const change = commit === null ? '' : `, ${plain(shortCommit(commit))}${by}`;
  return ` (${dayWords(receivedAt)}${change})`;
}

function describeAct(act: WhoseAct, isDefault: boolean, { code }: Wording): string {
  switch (act.what) {
    case 'fix': {
      if (act.path === null) return isDefault ? 'Start at this commit.' : 'Yours to mend.';
      const place = code(clip(act.line === null ? act.path : `${act.path}:${act.line}`, 200));
      return `${isDefault ? 'Start at' : 'Yours:'} ${place}.`;
    }
    case 'rebase': {
      const branch = act.branch === null ? 'the default branch' : code(clip(act.branch, 100));
      if (act.on === null) return `Rebase when ${branch} is green.`;
      return `Rebase: ${branch} is green since ${code(buildName(act.on))}.`;
    }
    case 'look':
      return `Start at ${code(buildName(act.at))}.`;
    case 'rerun':
      return 'Run it again.';
    case 'ask':
      return `It failed ${act.times} times in a row: ask the owner of the machine, service or test.`;
    case 'try':
      return 'Run it again: if it passes, it is flaky.';
    case 'nothing':
      return 'Nothing to do: it has passed since.';
  }
}
