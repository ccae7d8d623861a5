/** Words that have no common meaning in this context. Each has a usual equivalent. */
export const PRIVATE_WORDS =
  /\b(?:whoever|nobody|somebody|beside|meanwhile|anew|dear|told|telling|the house|the road|door|doors|landed|its turn|one's turn|a word)\b/gi;

/** British spellings. Words in backticks are ignored. */
export const BRITISH_WORDS =
  /\b(?:(?:un)?labell(?:ed|ing)|colours?|neighbours?|behaviours?|analysed|licences?|organisations?|time-outs?)\b/gi;

/** First words of a comment that is not a sentence. */
const CLAUSE =
  /^(?:what|how|of|whether|who|whom|whose|where|why|when|which|while|as|at|by|for|from|in|on|to|with|without|under|if|so|up|than|both|either|neither|like|beside|among|not|only|nothing|nobody|again)\b/i;

/** A verb in the third person, such as "Reads", "Searches" or "Has". */
const VERB = /^(?:never |always |also )?(?:[a-z]+(?:s|es|ies)|is|has|does|goes|can|may|must|cannot)\b/i;

/** Words that end in "s" but are not verbs. */
const NO_VERB =
  /^(?:its|this|is not|as|plus|thus|yes|always|sometimes|others|theirs|ours|hers|his|lines|words|files|tests|bytes|logs|rules|facts|rows|tools|failures|jobs|steps)\b/i;

/**
 * Checks whether a comment begins correctly: with a verb for a function, with a noun for a type or constant.
 */
export function isPlainSentence(comment: string, subject: 'function' | 'type'): boolean {
  // Tags, links and empty comments are not checked.
  if (comment === '' || comment.startsWith('@')) return true;
  if (CLAUSE.test(comment)) return false;
  return subject === 'type' || (VERB.test(comment) && !NO_VERB.test(comment));
}

/**
 * Verbs with which the name of a function may begin. Missing verbs may be added, but not nouns or
 * participles.
 */
const VERBS: ReadonlySet<string> = new Set(
  `
    abort accept accumulate acquire act add advise agree align allocate allow alternate annotate announce
    answer append apply arm arrange ask assert assess assign attack attempt attribute authenticate
    authorize avoid await batch begin bench bin bind bisect blame bootstrap bound break bring build
    bundle cache calibrate call canonicalize cap capture catch categorize change check checksum choose
    cite claim clamp classify clean clear clip clone close collect combine commit compare compile
    complete compose compress compute conceal conclude configure confirm connect consolidate contains
    continue converse convert copy correct count crawl cross cut deal decide declare decode decompress
    deduplicate define defines delete deliver demonstrate derive describe detach detect determine
    diagnose die diff digest dim disable disarm discover dispatch disturb divide doubt download draft
    drain draw drop dump edit embed encode end enforce ensure enter escalate escape estimate evaluate
    execute expand expect explain export extend extract fade fail fence fetch fill filter find finish fit
    fix flag flatten flush fold follow foretell forge forget fork format forward free freeze fuse fuzz
    gather generate get give grade grep group grow guess guide gunzip hand hang hash have help hide
    highlight hold hurry identify ignore import index insert inspect install instrument interleave
    introduce invent investigate join judge keep kill label land lay learn lease leave lighten limit link
    lint list listen load locate lock log look lose lower make map mark mask match measure mend mention
    merge migrate mine misquote modify move name narrow need neutralize normalize note number obey
    observe omit open order output overwrites pack pair parse pass pay penalize pick place plan plant
    play point poison post postpone predict prefix prepare press preview print probe process propose
    protect prove provide publish pull put quantize quarantine query quote raise rank rate reach read
    reason recall receive recite record recount recover redact redraw reduce reformat refresh refuse
    register rehearse reindex reject release relocate remember remove rename render renew repair repeat
    replace replay reply report reproduce request require rerun resample rescale reset resolve restart
    restore retain retry review revise revoke rewrite roll rotate round route rule run sample sanitize
    save say scale scan scope score search see seed select send serialize serve set settle shade share
    shift shorten show shuffle sign sit skip slice soften sort space speak spell split spread squeeze
    stamp stand start state stay stem stock stop store stream strip submit substitute subtract suggest
    sum summarize survey sweep sync synchronize tail take talk tally teach tell test throw tidy time
    tokenize trace track train transact translate triage trim trust try turn understand undo unescape
    unmark unpack unquote unwrap unzstd updating upgrade upload upsert use vanish vary verify view visit
    wait wake walk want warm warn watch weigh with withdraw without work wrap write
  `
    .trim()
    .split(/\s+/),
);

/**
 * Checks whether the name of a function begins with a verb, or with is, has, can, to, from or create. A function that
 * returns a boolean may also begin with a verb in the third person, as in `holdsQuote`.
 */
export function beginsWithVerb(name: string, isPredicate: boolean): boolean {
  const [first = ''] = /^[a-z]+/.exec(name) ?? [];
  if (/^(?:is|has|can|to|from|create)$/.test(first) || VERBS.has(first)) return true;
  return isPredicate && /^(?:are|do|may|must|should|[a-z]+s)$/.test(first);
}

/** Names that fit any variable and therefore describe none. */
const VAGUE_NAMES: ReadonlySet<string> = new Set(
  'own told said saying shown held one that it thing things stuff'.split(' '),
);

/** Checks whether the name of a variable or parameter would fit any other as well. */
export function isVague(name: string): boolean {
  return VAGUE_NAMES.has(name);
}
