import type { Span } from './span.ts';

/**
 * Tokens that give themselves away by their form, where secretlint's preset has no rule or a narrower one (it wants exact
 * lengths, which makers change). Each with literals (lower case) without which it cannot match.
 */
const TOKENS: readonly (readonly [literals: readonly string[], pattern: string])[] = [
  [['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{20,255}'],
  [['github_pat_'], 'github_pat_[A-Za-z0-9_]{20,255}'],
  [
    ['glpat-', 'gldt-', 'glrt-', 'glft-', 'glcbt-', 'glptt-', 'glsoat-', 'glimt-', 'glagent-', 'gloas-'],
    'gl(?:pat|dt|rt|ft|cbt|ptt|soat|imt|agent|oas)-[\\w-]{16,255}(?:\\.[\\w-]{2,40}){0,3}',
  ],
  [['npm_'], 'npm_[A-Za-z0-9]{30,60}'],
  [['pypi-ag'], 'pypi-Ag[\\w-]{40,255}'],
  [['dckr_'], 'dckr_(?:pat|oat)_[\\w-]{20,64}'],
  [['xox', 'xapp-', 'xwfp-'], '(?:xox[abcdeoprs]|xoxe\\.xox[bp]|xapp|xwfp)-[A-Za-z0-9%-]{10,512}'],
  [['akia', 'asia', 'agpa', 'aida', 'aroa', 'anpa', 'anva', 'abia', 'acca'], '(?:A(?:KIA|SIA|GPA|IDA|ROA|NPA|NVA|BIA|CCA))[A-Z0-9]{16}'],
  [['aiza'], 'AIza[\\w-]{35}'],
  [['ya29.'], 'ya29\\.[\\w-]{20,512}'],
  [['gocspx-'], 'GOCSPX-[\\w-]{20,64}'],
  // The run must begin here: else each place inside a long one would be tried anew.
  [['eyj'], '(?<![_-])eyJ[\\w-]{10,4000}\\.[\\w-]{10,8000}(?:\\.[\\w-]{4,2000}){0,3}'],
  [['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], '[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}'],
  [['whsec_'], 'whsec_[A-Za-z0-9+/]{24,64}={0,2}'],
  [['hrku-'], 'HRKU-[A-Za-z0-9_-]{36,128}'],
  [['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.[\\w-]{20,400}'],
  [['.atlasv1.'], '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,80}'],
  [['atatt3x', 'atctt3x', 'atbb'], '(?:AT[AC]TT3x[\\w=-]{40,400}|ATBB[A-Za-z0-9]{28,40})'],
  [['sntrys_', 'sntryu_'], 'sntry[su]_[\\w+/=.-]{40,400}'],
  [['rubygems_'], 'rubygems_[0-9a-f]{48}'],
  [['oy2'], 'oy2[a-z0-9]{43}'],
  [['ccipat_', 'cciprj_'], 'CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,100}'],
  [['bkua_', 'bkaj_', 'bkct_'], 'bk(?:ua|aj|ct)_[A-Za-z0-9]{30,80}'],
  [['squ_', 'sqp_', 'sqa_'], 'sq[upa]_[0-9a-f]{40}'],
  [['dp.pt.', 'dp.st.', 'dp.ct.'], 'dp\\.(?:pt|st|ct)\\.[A-Za-z0-9._-]{40,80}'],
  [['pul-'], 'pul-[0-9a-f]{40}'],
  [['dop_v1_', 'doo_v1_', 'dor_v1_'], 'do[por]_v1_[0-9a-f]{64}'],
  [['pscale_'], 'pscale_(?:tkn|pw|oauth)_[\\w.-]{20,80}'],
  [['nfp_'], 'nfp_[A-Za-z0-9]{36,64}'],
  [['akcp'], 'AKCp[A-Za-z0-9]{60,80}'],
  [['pmak-'], 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'],
  [['nrak-'], 'NRAK-[A-Z0-9]{27}'],
  [['age-secret-key-1'], 'AGE-SECRET-KEY-1[A-Z0-9]{50,70}'],
  [['sbp_'], 'sbp_[0-9a-f]{40}'],
  [['tskey-'], 'tskey-(?:auth|api|client|scim|webhook)-[\\w-]{16,80}'],
  [['pplx-', 'xai-'], '(?:pplx|xai)-[A-Za-z0-9]{40,100}'],
  [['fo1_', 'fm1_', 'fm2_'], '(?:fo1|fm1[ar]?|fm2)_[A-Za-z0-9+/=_-]{40,700}'],
  [['8q~'], '[A-Za-z0-9_~.]{3}8Q~[\\w.~-]{31,34}'],
  [['azdo'], '[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}'],
  // Our own: see `domain/access-token.ts`; the shorter form is of tokens that a data directory makes.
  [['flt_'], 'flt_[\\w-]{32,64}'],
  [['tfp_'], 'tfp_[A-Za-z0-9]{32,64}'],
  [['twilio'], 'SK[0-9a-f]{32}'],
];

/** Addresses that are secrets themselves: who knows one may write there. The secret is what follows. */
const WEBHOOKS =
  /(?:hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/|\.webhook\.office\.com\/webhookb2\/|chat\.googleapis\.com\/v1\/spaces\/[\w-]{1,40}\/messages\?)([\w./?=&%@+-]{16,600})/g;

/** Without one of these (in any case) in a line it holds no such token. */
export const TOKEN_LITERALS: readonly string[] = TOKENS.flatMap(([literals]) => literals);
/** The same of webhook addresses. */
export const WEBHOOK_LITERALS: readonly string[] = [
  'hooks.slack.com/',
  '.com/api/webhooks/',
  '.webhook.office.com/',
  'chat.googleapis.com/v1/',
];

const TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS.map(([, pattern]) => pattern).join('|')})(?![A-Za-z0-9])`, 'g');

/** `sk-` ends many words, so lines with it are looked through for nothing else. */
const MODEL_KEY = /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-|ant-|or-v1-|None-)?[A-Za-z0-9][\w-]{38,250}(?![A-Za-z0-9])/g;
export const MODEL_KEY_LITERALS: readonly string[] = ['sk-'];

/** Keys of the makers of models in a line. */
export function findModelKeys(line: string): Span[] {
  return spansOf(line, MODEL_KEY);
}

/** The tokens in a line. */
export function findTokens(line: string): Span[] {
  return spansOf(line, TOKEN);
}

function spansOf(line: string, pattern: RegExp): Span[] {
  return Array.from(line.matchAll(pattern), ({ 0: token, index }) => ({ from: index, to: index + token.length }));
}

/** The secret parts of webhook addresses in a line. */
export function findWebhooks(line: string): Span[] {
  return Array.from(line.matchAll(WEBHOOKS), ({ 0: whole, 1: secret = '', index }) => ({
    from: index + whole.length - secret.length,
    to: index + whole.length,
  }));
}
