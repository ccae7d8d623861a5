import { append } from '../../lib/collections.ts';
import stored from './gitleaks/rules.json' with { type: 'json' };
import { computeEntropy, type Span, withoutColors } from './span.ts';

const NAMED = stored.named.map(({ name, value }) => ({
  name: new RegExp(name, 'i'),
  value: new RegExp(`^(?:${value})$`),
}));

/**
 * Checks whether a value has the form of a secret of the vendor that its name contains, such as the 16 digits
 * of `ASANA_TOKEN`. In another place, such a value could be anything.
 */
export function isVendorValue(name: string, value: string): boolean {
  return NAMED.some((rule) => rule.value.test(value) && rule.name.test(name));
}

/**
 * A kind of secret: its literals in lower case, one of which is on every line with such a secret in any case,
 * and the function that finds it in a line.
 */
export interface Shape {
  readonly literals: readonly string[];
  readonly find: (line: string) => Span[];
}

/** The minimum entropy of a token, in bits per character. Documents write `ghp_xxxx…` for a token. */
const MIN_BITS = 1.2;

/**
 * Tokens that are recognized by their form, if gitleaks has no rule or a narrower one (it requires exact
 * lengths, which vendors change). Each has literals in lower case, one of which is in every match.
 */
const TOKENS: readonly (readonly [literals: readonly string[], pattern: string])[] = [
  [['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{20,255}'],
  [['github_pat_'], 'github_pat_[A-Za-z0-9_]{20,255}'],
  [
    [
      'glpat-',
      'gldt-',
      'glrt-',
      'glft-',
      'glcbt-',
      'glptt-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'gloas-',
      'glffct-',
    ],
    'gl(?:pat|dt|rt|ft|cbt|ptt|soat|imt|agent|oas|ffct)-[\\w-]{16,255}(?:\\.[\\w-]{2,40}){0,3}',
  ],
  [['npm_'], 'npm_[A-Za-z0-9]{30,60}'],
  [['pypi-ag'], 'pypi-Ag[\\w-]{40,255}'],
  [['dckr_'], 'dckr_(?:pat|oat)_[\\w-]{20,64}'],
  [['xox', 'xapp-', 'xwfp-'], '(?:xox[abcdeoprs]|xoxe\\.xox[bp]|xapp|xwfp)-[A-Za-z0-9%-]{10,512}'],
  [
    ['akia', 'asia', 'agpa', 'aida', 'aroa', 'anpa', 'anva', 'abia', 'acca'],
    '(?:A(?:KIA|SIA|GPA|IDA|ROA|NPA|NVA|BIA|CCA))[A-Z0-9]{16}',
  ],
  [['aiza'], 'AIza[\\w-]{35}'],
  [['ya29.'], 'ya29\\.[\\w-]{20,512}'],
  [['gocspx-'], 'GOCSPX-[\\w-]{20,64}'],
  // A match must not begin inside a run of such characters, because every position in a long run would be
  // tried.
  [['eyj'], '(?<![_-])eyJ[\\w-]{10,4000}\\.[\\w-]{10,8000}(?:\\.[\\w-]{4,2000}){0,3}'],
  [['whsec_'], 'whsec_[A-Za-z0-9+/]{24,64}={0,2}'],
  [['hrku-'], 'HRKU-[A-Za-z0-9_-]{36,128}'],
  [['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.[\\w-]{20,400}'],
  [['atatt3x', 'atctt3x', 'atbb'], '(?:AT[AC]TT3x[\\w=-]{40,400}|ATBB[A-Za-z0-9]{28,40})'],
  [['sntrys_', 'sntryu_'], 'sntry[su]_[\\w+/=.-]{40,400}'],
  [['oy2'], 'oy2[a-z0-9]{43}'],
  [['ccipat_', 'cciprj_'], 'CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,100}'],
  [['bkua_', 'bkaj_', 'bkct_'], 'bk(?:ua|aj|ct)_[A-Za-z0-9]{30,80}'],
  [['squ_', 'sqp_', 'sqa_'], 'sq[upa]_[0-9a-f]{40}'],
  [['dp.pt.', 'dp.st.', 'dp.ct.'], 'dp\\.(?:pt|st|ct)\\.[A-Za-z0-9._-]{40,80}'],
  [['nfp_'], 'nfp_[A-Za-z0-9]{36,64}'],
  [['nrak-', 'nrii-', 'nrjs-'], 'NR(?:AK|II|JS)-[A-Za-z0-9-]{19,40}'],
  [['sbp_'], 'sbp_[0-9a-f]{40}'],
  [['tskey-'], 'tskey-(?:auth|api|client|scim|webhook)-[\\w-]{16,80}'],
  [['pplx-', 'xai-', 'gsk_'], '(?:pplx-|xai-|gsk_)[A-Za-z0-9]{40,100}'],
  [['fo1_', 'fm1', 'fm2_'], '(?:fo1|fm1[ar]?|fm2)_[A-Za-z0-9+/=_-]{40,700}'],
  [['azdo'], '[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}'],
  // Faultline's own tokens: see `domain/access-token.ts`. The shorter form is that of tokens created in a
  // data directory.
  [['flt_'], 'flt_[\\w-]{32,64}'],
  [['tfp_'], 'tfp_[\\w.=-]{32,80}'],
  [['sg.'], 'SG\\.[\\w-]{16,32}\\.[\\w-]{30,60}'],
  [['shpat_', 'shpca_', 'shppa_', 'shpss_'], 'shp(?:at|ca|pa|ss)_[A-Za-z0-9]{32,64}'],
  [['hf_'], 'hf_[A-Za-z0-9]{30,40}'],
  [['lin_api_', 'lin_oauth_'], 'lin_(?:api|oauth)_[A-Za-z0-9]{32,128}'],
  [['ops_ey'], 'ops_ey[A-Za-z0-9+/]{100,2000}={0,2}'],
  [['secret_'], 'secret_[A-Za-z0-9]{43}'],
  [['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], 'vc[piark]_[A-Za-z0-9]{24,80}'],
  [['figd_'], 'figd_[\\w-]{40,200}'],
  [['aio_'], 'aio_[A-Za-z0-9]{28}'],
  [['cfpat-'], 'CFPAT-[\\w-]{43}'],
  [['flwseck', 'flwpubk'], 'FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,64}(?:-X)?'],
  [['sq0'], 'sq0[a-z]{3}-[\\w-]{22,60}'],
  [['eaa'], 'EAA[A-Z][A-Za-z0-9]{60,400}'],
  [['pnu_', 'pnb_'], 'pn[ub]_[A-Za-z0-9]{36}'],
  [['key-'], '(?:pub)?key-[0-9a-f]{32}'],
  [['-us1', '-us2', '-us3', '-us4', '-us5', '-us6', '-us7', '-us8', '-us9'], '[0-9a-f]{32}-us\\d{1,2}'],
  // In URLs of Telegram, `bot` is directly before the token.
  [[':aa'], '(?:bot)?\\d{8,10}:AA[\\w-]{32,34}'],
  [['discord', 'bot '], '[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,38}'],
  [['access-san', 'access-dev', 'access-pro'], 'access-(?:sandbox|development|production)-[0-9a-f-]{36}'],
];

/**
 * Keys of model providers and of Twilio. Many words end in `sk-` or `sk`, so lines with these literals are
 * searched only for this pattern.
 */
const KEY = new RegExp(
  '(?<![A-Za-z0-9])(?:sk-(?:proj-|svcacct-|admin-|ant-|or-v1-|' +
    String.raw`None-)?[A-Za-z0-9][\w-]{38,250}|SK[0-9a-f]{32})(?![A-Za-z0-9])`,
  'g',
);
const DIGITS = [...'0123456789abcdef'];
const KEY_LITERALS: readonly string[] = [
  'sk-',
  ...DIGITS.flatMap((first) => DIGITS.map((second) => `sk${first}${second}`)),
];

/** The shapes that identify a token by its form alone. */
export const TOKEN_SHAPES: readonly Shape[] = [
  createShape(TOKENS),
  createShape(stored.tokens.map(({ keywords, pattern }) => [keywords, pattern])),
  { literals: KEY_LITERALS, find: (line) => findSpans(line, KEY) },
];

function createShape(rules: typeof TOKENS): Shape {
  const pattern = new RegExp(
    `(?<![A-Za-z0-9])(?:${rules.map(([, rule]) => rule).join('|')})(?![A-Za-z0-9])`,
    'g',
  );
  return { literals: rules.flatMap(([literals]) => literals), find: (line) => findSpans(line, pattern) };
}

function findAny(text: string): Span[] {
  return TOKEN_SHAPES.flatMap(({ find }) => find(text));
}

function findSpans(line: string, pattern: RegExp): Span[] {
  return Array.from(withoutColors(line).matchAll(pattern)).flatMap(({ 0: token, index }) =>
    computeEntropy(token) < MIN_BITS ? [] : [{ from: index, to: index + token.length }],
  );
}

/**
 * The maximum length of the end of a line, and of the beginning of the next, that may be two parts of one
 * token.
 */
const MAX_PART = 300;
const LAST_RUN_TOKEN = /(?<![\w.-])[A-Za-z][\w.-]{2,299}$/;
const FIRST_RUN = /^((?:\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\s?|\s){0,8})([\w.-]{4,300})/;

/**
 * Finds a token that a terminal or log driver broke: it begins at the end of this line and ends at the
 * beginning of the next. Returns spans of both lines. A token that is complete on its own line continues on
 * the next line only if that line contains nothing but characters of the same kind.
 */
export function findWrapped(
  line: string,
  next: string,
): { readonly here: readonly Span[]; readonly there: readonly Span[] } {
  const none = { here: [], there: [] };
  const end = line.endsWith('\r') ? line.length - 1 : line.length;
  const last = LAST_RUN_TOKEN.exec(line.slice(Math.max(0, end - MAX_PART), end))?.[0];
  if (last === undefined) return none;
  const [, indent = '', first = ''] = FIRST_RUN.exec(next) ?? [];
  if (first === '') return none;
  const here = { from: end - last.length, to: end };
  const there = { from: indent.length, to: indent.length + first.length };
  const whole = findAny(last).find(({ to }) => to === last.length);
  const missing = whole === undefined ? 0 : findFullLength(last.slice(whole.from)) - (whole.to - whole.from);
  if (whole !== undefined && (missing <= 0 || first.length < missing))
    return isRest(first, next.slice(there.to)) ? { here: [here], there: [there] } : none;
  const across = findAny(last + first).find(({ from, to }) => from < last.length && to > last.length);
  if (across === undefined) return none;
  return {
    here: [{ from: here.from + across.from, to: end }],
    there: [{ from: there.from, to: there.from + across.to - last.length }],
  };
}

/** Returns the length of a vendor's tokens, or 0 if it is not fixed. */
function findFullLength(token: string): number {
  if (/^gh[pousr]_/.test(token) || token.startsWith('npm_')) return 40;
  if (token.startsWith('github_pat_')) return 93;
  return token.startsWith('glpat-') ? 26 : 0;
}

/** Checks whether a text is the rest of a token: nothing follows it, and it is not an ordinary word. */
function isRest(first: string, after: string): boolean {
  if (after.trim() !== '' || /[.-]/.test(first) || !/[A-Za-z]/.test(first)) return false;
  return /\d/.test(first) ? first.length >= 6 : first.length >= 16 && /[a-z][A-Z]/.test(first);
}

export const KEY_BLOCK_LITERALS: readonly string[] = ['-----begin', '---- begin ssh2', 'private-lines:'];
export const ENCODED_KEY_LITERALS: readonly string[] = ['ls0tls1crudjti'];

const BEGIN = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\bPrivate-Lines: \d{1,3}/;
const END = /-{4,5} ?END /;
/** The maximum number of lines of a private key. */
const MAX_LINES = 200;
/** The maximum number of keys on one line, as in a JSON document without line ends. */
const MAX_BLOCKS = 50;
const LAST_RUN_KEY = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{1,2000}(?=(?:\\{1,2}[nr]){0,2}["',]{0,3}\s{0,8}$)/;
/** Lines of a private key block without key material: headers and blank lines. */
const HEADER = /(?:^|\s)(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|Charset): |^\s*$/;

/** Reads the line that is `after` lines below a given one. Returns null if there is none. */
type NextLine = (after: number) => string | null;

/** The spans in one line. `line` counts from the line where the block begins. */
interface LineSpans {
  readonly line: number;
  readonly spans: readonly Span[];
}

/**
 * Finds the private keys that begin in this line: on the line itself (with `\n` written out; several if each
 * of them ends there), or on at most 200 lines after it, up to the end of the key or to the first line that
 * cannot belong to one.
 */
export function findKeyBlock(first: string, next: NextLine): LineSpans[] {
  const found: LineSpans[] = [];
  let after = 0;
  for (let block = 0; block < MAX_BLOCKS; block++) {
    const begin = BEGIN.exec(first.slice(after));
    if (begin === null) break;
    const from = after + begin.index + begin[0].length;
    const rest = first.slice(from, from + 20_000);
    const end = rest.search(END);
    if (end === -1) {
      const here = /[A-Za-z0-9+/=]{16}/.test(rest) ? joinOnOneLine(first, from, findTextEnd(first)) : [];
      return [...found, ...here, ...readKeyBody(next, after + begin.index)];
    }
    append(found, joinOnOneLine(first, from, from + end));
    after = from + end;
  }
  return found;
}

function readKeyBody(next: NextLine, indent: number): LineSpans[] {
  const body: LineSpans[] = [];
  for (let line = 1; line <= MAX_LINES; line++) {
    const text = next(line);
    if (text === null || END.test(text)) break;
    if (HEADER.test(text) || HEADER.test(text.slice(indent))) continue;
    const run = LAST_RUN_KEY.exec(text.slice(0, 4_000));
    if (run === null || !(isKeyMaterial(run[0]) || endsSoon(next, line))) break;
    body.push({ line, spans: [{ from: run.index, to: run.index + run[0].length }] });
  }
  return body;
}

function isKeyMaterial(run: string): boolean {
  return run.length >= 16 && /\d/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run);
}

/**
 * Checks whether the key ends on one of the next two lines: its last line may be short, and a checksum may
 * follow.
 */
function endsSoon(next: NextLine, line: number): boolean {
  return END.test(next(line + 1) ?? '') || END.test(next(line + 2) ?? '');
}

/**
 * Finds whole PEM files with a private key in base64, as in kubeconfigs and Kubernetes secrets. Certificates
 * are not hidden.
 */
export function findEncodedKeys(line: string): Span[] {
  return Array.from(line.matchAll(/(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,200000}={0,2}/g)).flatMap(
    ({ 0: run, index }) =>
      Buffer.from(run.slice(0, 80), 'base64').toString('latin1').includes('PRIVATE KEY')
        ? [{ from: index, to: index + run.length }]
        : [],
  );
}

/**
 * Returns the key between its first and last line, without the line breaks (`\n` written out) at both ends.
 */
function joinOnOneLine(line: string, from: number, to: number): LineSpans[] {
  const body = line.slice(from, to);
  const start = /^(?:\s|\\{1,3}[nr]){0,8}/.exec(body)?.[0].length ?? 0;
  const rest = /(?:\s|\\{1,3}[nr]|["',]){0,8}$/.exec(body.slice(-24))?.[0].length ?? 0;
  const span = { from: from + start, to: Math.max(from + start, to - rest) };
  return line.startsWith('***', span.from) ? [] : [{ line: 0, spans: [span] }];
}

function findTextEnd(line: string): number {
  return line.endsWith('\r') ? line.length - 1 : line.length;
}
