import { shortenCommit } from '../domain/build.ts';
import type { ProvingBuild } from '../domain/failure-history.ts';
import { WHOSE_WORDS, type Whose, type WhoseAct, type WhoseProof } from '../domain/whose.ts';
import { formatConfidence, formatCount, toSentence } from '../lib/text.ts';
import { buildName, formatDay } from './notice-words.ts';
import { clip } from './visible-text.ts';

/** A piece of the verdict line. A plain string is our own text; all other pieces are untrusted. */
export type WhosePart =
  | string
  | { readonly plain: string }
  | { readonly code: string }
  | { readonly build: ProvingBuild; readonly name: string };

/** The verdict line in parts, which every output shows in its own way. */
export interface WhoseLine {
  /** "Is it me?", or on the default branch "Which change?". */
  readonly question: string;
  /** "No, already red on the default branch", or "Most likely yes, new with this change (95 %)". */
  readonly answer: string;
  /** "main fails this way since ci #790 (12 Oct 2026, a41f9c2 by Ada)"; empty if there is no proof. */
  readonly proof: readonly WhosePart[];
  /** A sentence: "Rebase when main is green." */
  readonly act: readonly WhosePart[];
}

/** Describes a verdict in words. */
export function createWhoseLine({ verdict, isDefault, probability, proof, act }: Whose): WhoseLine {
  const { sure, likely, onDefault } = WHOSE_WORDS[verdict];
  const words = probability === null ? sure : likely;
  const [named] = proof.filter(({ what }) => what === 'named');
  const commit = named?.what === 'named' && isDefault ? `Most likely ${nameCommit(named)}` : onDefault;
  const stated = isDefault ? commit : words;
  return {
    question: isDefault ? 'Which change?' : 'Is it me?',
    answer: probability === null ? stated : `${stated} (${formatConfidence(probability)})`,
    proof: proof.flatMap((statement, at): WhosePart[] => {
      const described = describeProof(statement, isDefault);
      return at === 0 ? described : ['; ', ...described];
    }),
    act: describeAct(act, isDefault),
  };
}

/** Formats parts of the line as text. `show` renders untrusted parts. */
export function joinParts(
  parts: readonly WhosePart[],
  show: (part: Exclude<WhosePart, string>) => string = showRaw,
): string {
  return parts.map((part) => (typeof part === 'string' ? part : show(part))).join('');
}

/** Returns the verdict line as one plain text, such as "Not known yet. Run it again." */
export function formatWhoseSentence(whose: Whose): string {
  const { answer, proof, act } = createWhoseLine(whose);
  const because = proof.length === 0 ? '' : `: ${joinParts(proof)}`;
  return `${toSentence(`${answer}${because}`)} ${joinParts(act)}`;
}

function showRaw(part: Exclude<WhosePart, string>): string {
  if ('plain' in part) return part.plain;
  return 'code' in part ? part.code : part.name;
}

function describeProof(proof: WhoseProof, isDefault: boolean): WhosePart[] {
  switch (proof.what) {
    case 'tried':
      return [{ plain: clip(proof.sentence.replace(/\.$/, ''), 500) }];
    case 'passed-again':
      return ['passed on the same commit in ', nameBuild(proof.build)];
    case 'fails-on': {
      const row = proof.times > 1 ? `, ${proof.times} builds in a row` : '';
      const since = [' fails this way since ', nameBuild(proof.since), ...describeOrigin(proof.since), row];
      return [nameBranch(proof.branch), ...since];
    }
    case 'failed-on': {
      const { branch, build } = proof;
      return [nameBranch(branch), ' failed this way in ', nameBuild(build), ...describeOrigin(build)];
    }
    case 'pull-requests':
      return [`${formatCount(proof.count, 'other pull request')} had it in the week before`];
    case 'flakes': {
      const share = Math.round((100 * proof.flakes) / Math.max(1, proof.runs));
      return [`flaked in ${share} % of ${formatCount(proof.runs, 'run')}`];
    }
    case 'version': {
      const since = proof.since === null ? 'the green build' : `build ${clip(proof.since, 100)}`;
      const of = proof.isSameCommit ? ' of the same commit' : ', and this change touches nothing near it';
      return [{ plain: clip(proof.change, 300) }, ' since ', { plain: since }, of];
    }
    case 'incident':
      return [
        { plain: clip(proof.host, 200) },
        ` failed for ${formatCount(proof.repositories, 'other repository', 'other repositories')}` +
          ' within minutes',
      ];
    case 'log':
      return ['the log of the failing step shows it'];
    case 'named':
      return isDefault
        ? ['named by the answer, not yet proven by builds']
        : ['the answer names commit ', { plain: nameCommit(proof) }];
    case 'new-test':
      return ['its test is new here'];
    case 'passes-on':
      if (isDefault) return ['passed in ', nameBuild(proof.build), ', the build before'];
      return [
        'passes on ',
        nameBranch(proof.branch),
        ' (',
        nameBuild(proof.build),
        ') and was seen nowhere else',
      ];
    case 'passed-before':
      return ['passed here in ', nameBuild(proof.build)];
  }
}

function nameCommit({ commit, author }: Extract<WhoseProof, { what: 'named' }>): string {
  return `${shortenCommit(commit)}${author === null ? '' : ` by ${clip(author, 100)}`}`;
}

function nameBranch(branch: string): WhosePart {
  return { code: clip(branch, 100) };
}

function nameBuild(build: ProvingBuild): WhosePart {
  return { build, name: buildName(build) };
}

/** Describes the time, commit and author of a build: " (12 Oct 2026, a41f9c2 by Ada)". */
function describeOrigin({ receivedAt, commit, author }: ProvingBuild): WhosePart[] {
  const by: WhosePart[] = author === null ? [] : [' by ', { plain: clip(author, 100) }];
  const change: WhosePart[] = commit === null ? [] : [', ', { plain: shortenCommit(commit) }, ...by];
  return [` (${formatDay(receivedAt)}`, ...change, ')'];
}

function describeAct(act: WhoseAct, isDefault: boolean): WhosePart[] {
  switch (act.what) {
    case 'fix': {
      if (act.path === null) return [isDefault ? 'Start at this commit.' : 'Yours to fix.'];
      const place = clip(act.line === null ? act.path : `${act.path}:${act.line}`, 200);
      return [isDefault ? 'Start at ' : 'Yours: ', { code: place }, '.'];
    }
    case 'rebase': {
      const branch = act.branch === null ? 'the default branch' : nameBranch(act.branch);
      if (act.on === null) return ['Rebase when ', branch, ' is green.'];
      return ['Rebase: ', branch, ' is green since ', nameBuild(act.on), '.'];
    }
    case 'look':
      return ['Start at ', nameBuild(act.at), '.'];
    case 'rerun':
      return ['Run it again.'];
    case 'pin':
      return [{ plain: clip(act.advice, 400) }];
    case 'ask':
      return [`It failed ${act.times} times in a row: ask the owner of the machine, service or test.`];
    case 'try':
      return ['Only a rerun would show it: if it passes, it is flaky.'];
    case 'contains':
      return ['Yours if your change contains that commit.'];
    case 'first':
      return ['No earlier build is known to compare with.'];
    case 'nothing':
      return ['Nothing to do: it has passed since.'];
  }
}
