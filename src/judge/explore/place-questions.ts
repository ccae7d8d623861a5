import type { QuestionShape } from '../../domain/conversation.ts';

/** The forms of questions about a place that tools answer without a model. */
export type PlaceForm =
  | 'callers'
  | 'changed'
  | 'compare'
  | 'where'
  | 'how'
  | 'outline'
  | 'overview'
  | 'stack'
  | 'layout'
  | 'what';

/** A question as the rules understand it; `form` is null if no form fits. */
export interface PlaceQuestion {
  readonly form: PlaceForm | null;
  readonly shape: QuestionShape;
  /** The names that it asks about: of code, or paths. */
  readonly entities: readonly string[];
}

/** The parts of forms: a name or path, perhaps quoted or with parentheses, kinds of code, and the place. */
const PARTS: Readonly<Record<string, string>> = {
  NAME: '["\'`“]?([\\w$@./:#~!-]{1,200})(?:\\(\\))?["\'`”]?',
  KIND: 'file|function|method|class|type|struct|trait|interface|constant|macro|variable|module|enum',
  ANY: '(?:the )?(?:(?:KIND) )?NAME',
  WAY: '(?:defined|declared|implemented|located|found|live|in)',
  PLACE:
    '(?:this|the|that|your) ' +
    '(?:repository|repo|project|package|library|code ?base|code|crate|program|tool|app)',
};

/** The forms in the order in which they are tried. */
const FORMS: readonly (readonly [PlaceForm, RegExp])[] = [
  [
    'stack',
    compile([
      '\\b(?:which|what) (?:programming )?languages?\\b',
      '\\bwritten in\\b|\\b(?:technology|tech) stack\\b|\\bdependenc(?:y|ies)\\b|\\bbuild tools?\\b',
    ]),
  ],
  [
    'layout',
    compile([
      '\\bhow is (?:PLACE|it) (?:organi[sz]ed|structured|laid out)',
      '\\b(?:structure|layout) of (?:PLACE|it)\\b',
      '\\blist (?:all |the )*(?:files|folders)',
    ]),
  ],
  [
    'overview',
    compile([
      "^(?:what (?:is|does)|what's|describe|explain|summari[sz]e|tell me about) PLACE(?: (?:do|about|for))?$",
      '^(?:give me an )?(?:overview|summary)(?: of PLACE)?$',
    ]),
  ],
  [
    'compare',
    compile([
      '\\bdifferences? between (?:the )?NAME and (?:the )?NAME',
      '\\bcompare (?:the )?NAME (?:with|to|and) (?:the )?NAME',
      '\\bhow (?:does|do|is) NAME (?:differ|different|compare) (?:from|to|with) NAME',
      '^how (?:does|do|are|is) (?:the )?NAME and (?:the )?NAME (?:differ|different|compare)\\b',
      '^NAME (?:vs\\.?|versus) NAME$',
    ]),
  ],
  [
    'callers',
    compile([
      '^(?:what|who|where)(?: else)? (?:calls?|uses?|invokes?) ANY$',
      '^which (?:functions?|code|files?|lines?|methods?|callers?) (?:calls?|uses?|invokes?) (?:the )?NAME$',
      '^where (?:is|are) ANY (?:used|called|invoked)$',
      '\\b(?:usages?|callers?|uses) of ANY$',
    ]),
  ],
  [
    'changed',
    compile([
      '^who (?:has |last )*(?:changed|wrote|modified|edited|added|created) ANY(?: last)?$',
      '^when (?:was|did) ANY (?:last )?(?:changed?|modified|written|edited)(?: last)?$',
      '\\b(?:author|history) of ANY$',
    ]),
  ],
  [
    'where',
    compile([
      '^where (?:is|are|does|can i find) ANY(?: (?:KIND))?(?: WAY)?$',
      '^(?:in )?which (?:KIND) (?:defines?|declares?|implements?|contains?|has|is) (?:the )?NAME(?: WAY)?$',
      '^(?:find|locate) ANY$',
    ]),
  ],
  [
    'outline',
    compile([
      '^what (?:does|is|are) (?:the )?(?:file )?NAME (?:defines?|contains?|exports?)$',
      '^what is (?:defined |there )?in (?:the )?(?:file )?NAME$',
      '\\b(?:structure|outline|functions|definitions) (?:of|in) (?:the )?(?:file )?NAME$',
    ]),
  ],
  [
    'how',
    compile([
      '^how (?:does|do|is|are) ANY (?:works?|implemented|done|run)$',
      '^how (?:does|do) (?:the )?NAME and (?:the )?NAME (?:work|interact|run)(?: together)?$',
      '^walk me through ANY$|^(?:the )?life of NAME$',
    ]),
  ],
  [
    'what',
    compile([
      '^what (?:does|do) ANY(?: (?:KIND))? (?:do|mean|return)$',
      "^what(?:'s| is| are) (?:the (?:purpose|meaning) of )?ANY(?: for)?$",
      '^(?:explain|describe|tell me about) ANY$',
    ]),
  ],
];

/** Compiles the ways to ask a form, with the parts above in place of their names. */
function compile(ways: readonly string[]): RegExp {
  return new RegExp(
    ways
      .join('|')
      .replace(/ANY/g, PARTS.ANY ?? '')
      .replace(/NAME|KIND|PLACE|WAY/g, (part) => PARTS[part] ?? part),
    'i',
  );
}

const SHAPES: Partial<Record<PlaceForm, QuestionShape>> = { compare: 'comparison', how: 'journey' };
const PRONOUNS = new Set(['it', 'this', 'that', 'they', 'them', 'these', 'those']);
/** Words that are no names of code. "What is the time?" asks for none. */
const NOT_NAMES = new Set(
  'a an the there here we you i in of to and or not now next wrong new right main'.split(' '),
);

/**
 * Reads a question about a place. A pronoun takes the name from `before`, the question before it. A question
 * of no known form has the form null.
 */
export function readPlaceQuestion(question: string, before: string | null = null): PlaceQuestion {
  const text = question
    .replace(/\s+/g, ' ')
    .replace(/[?!.\s]{1,20}$/, '')
    .replace(/^(?:please|so|and|ok),? /i, '')
    .trim();
  for (const [form, words] of FORMS) {
    const match = words.exec(text);
    if (match === null) continue;
    const names = match.slice(1).filter((name) => name !== undefined);
    const entities = names.map((name) => resolveName(name, before)).filter((name) => name !== null);
    if (names.length > 0 && entities.length < names.length) continue;
    return { form, shape: SHAPES[form] ?? 'explanation', entities };
  }
  return { form: null, shape: 'explanation', entities: [] };
}

function resolveName(name: string, before: string | null): string | null {
  const plain = name.replace(/[.,:;]{1,5}$/, '').replace(/\(\)$/, '');
  if (PRONOUNS.has(plain.toLowerCase()))
    return before === null ? null : (readPlaceQuestion(before).entities[0] ?? null);
  return NOT_NAMES.has(plain.toLowerCase()) || plain === '' ? null : plain;
}

const FILE_ENDINGS = new Set(
  `js jsx mjs cjs ts tsx mts cts py pyi go rs java kt rb php cs c h cc cpp hpp md rst txt json toml yml yaml
  xml cfg ini sh html css sql gradle lock mod sum`.split(/\s+/),
);

/** Checks whether a name is that of a file or folder and not of something in code. */
export function isPathName(name: string): boolean {
  const ending = /^[\w.-]+\.(\w{1,6})$/.exec(name)?.[1]?.toLowerCase();
  return name.includes('/') || (ending !== undefined && FILE_ENDINGS.has(ending));
}

/** Returns the title of an answer, which names what the question is about. */
export function createTitle({ form, entities }: PlaceQuestion, place: string): string {
  const [first, second] = entities;
  if (first === undefined) return place;
  if (second !== undefined) return `${first} and ${second}`;
  return form === 'how' ? `Life of ${first}` : first;
}
