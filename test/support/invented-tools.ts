import { Category } from '../../src/domain/category.ts';
import { HARMLESS, type HarmlessKind } from './harmless-lines.ts';

/** A small log of one failed step of a tool that does not exist. Lines are counted from 1. */
export interface InventedLog {
  /** The tool and the harmless kind, as in `graft with clean-up: post job`. */
  readonly name: string;
  readonly lines: readonly string[];
  /** The numbers of the two lines that say what is wrong. */
  readonly telling: readonly number[];
  /** The numbers of the lines of the harmless kind. */
  readonly harmlessAt: readonly number[];
  /** The category of the failure according to these two lines. Null if they do not show it. */
  readonly category: Category | null;
  /** The other categories that a reader could defend. */
  readonly alsoOk: readonly Category[];
}

/**
 * The table of tools. `$` begins a tool: its command, its first line, and the lines that it repeats. `!` has
 * the two informative lines. `=` has its category and the others that a reader could defend, or `unknown`.
 * ` ⏎ ` ends a line; `
 *
 * ` does too, and other lines may follow in between. Braces contain a value of `VALUES `.
 */
const TOOLS = `
$ plumbline verify --against revision-{n} ⏎ comparing {num} tables ⏎ {word}: {num} columns agree
! schema drift: table {word} has column {word2} that revision {n} does not know ⏎   present since load {hex}, type decimal(12,2)
= CODE_ERROR CONFIG_ERROR
$ siphon run nightly.{word} ⏎ [siphon] pipeline opened, {n} stages ⏎ [siphon] {word}: {big} records
! [siphon] error: {word} delivered {low} batches of the {high} announced ¶ [siphon] batch {hex} never arrived from {file}-feed
= unknown
$ rillet backfill --day {low} ⏎ t=0.1 stage=open source={file} ⏎ t={sec} stage=copy rows={big} source={file}
! t={sec} stage=merge source={file} result=refused reason="key not unique" ⏎ t={sec} stage=merge source={file} key={word} value={hex} seen={n}
= unknown
$ tidemark ingest {dir}/ ⏎ {"step":"open","file":"{dir}/{file}.parquet"} ⏎ {"step":"read","file":"{dir}/{file}.parquet","rows":{big}}
! {"step":"check","level":"error","file":"{dir}/{file}.parquet","says":"{high} nulls in column {word}"} ¶ {"step":"check","level":"error","rule":"{word} is filled","limit":{low}}
= TEST_FAILURE CODE_ERROR
$ emberlink pack --board {word} ⏎ section .text    {big} bytes ⏎ section .{word}    {num} bytes
! emberlink: error: image is {high} KiB, the slot of board {word} holds {low} KiB ⏎   largest part: .{word2} from {dir}/{file}.o
= CODE_ERROR TEST_FAILURE CONFIG_ERROR
$ fusebox burn --dry {file}.fuse ⏎ reading {num} fuses ⏎ fuse {num}: 0x{hex} set
! fuse {num}: wanted 0x{hex} ⏎ fuse {num}: have   0x{hex2}
= TEST_FAILURE CODE_ERROR CONFIG_ERROR
$ bootseal check out/ ⏎ keyring: {n} keys ⏎ {file}.tgz sealed by {hex}
! signature of {file}.tgz does not belong to key {hex} ⏎ it was made with {hex2}, withdrawn in revision {n}
= CONFIG_ERROR DEPENDENCY_ERROR
$ pinmap resolve boards/ ⏎ boards/{file}.pin: {num} pins ⏎ boards/{file}.pin: {n} groups placed
! boards/{file}.pin:{line}: error: pin P{n} is claimed by {word} ⏎ boards/{file}.pin:{line2}: pin P{n} is claimed by {word2}
= CODE_ERROR CONFIG_ERROR
$ wattlog budget --mode all ⏎ | mode     | drawn    | budget   |      | ⏎ | {word} | {low} uA | {high} uA | good |
! | sleep    | {high} uA | {low} uA | OVER | ¶ sleep draws more than its budget, mostly in driver {word}
= TEST_FAILURE CODE_ERROR
$ lorekeep walk quests/ ⏎ {num} quests, {num} items ⏎ quest {word}: {n} steps walked
! quest {word}: step {n} waits for item {word2}, which nobody drops ⏎   reached from quests/{file}.quest, line {line}
= CODE_ERROR TEST_FAILURE
$ voxelforge bake --all ⏎ baking {num} meshes ⏎ mesh {file} baked, {big} faces
! E0042 mesh {file} has {high} bones ⏎       rig {word} takes {low}, see {dir}/{file2}.vox
= CODE_ERROR CONFIG_ERROR
$ pathprobe levels/ ⏎ probing with {n} walkers ⏎ level {file}: {num} rooms seen
! level {file}: exit is cut off from spawn {n} ⏎   walled in at ({low}, {high})
= CODE_ERROR TEST_FAILURE
$ duelsim --rounds {big} ⏎ seed {hex} ⏎ {word} against {word2}: {big} rounds
! !! {word} wins {high} of 100 duels ⏎ !! permitted are {low}
= TEST_FAILURE CODE_ERROR
$ spriteloom weave art/ ⏎ weaving {num} frames ⏎ art/{file}.png -> sheet {n}
! Error: sheet {n} has no room for frame {num} ⏎     frame {num} comes from art/{file}.png ({high}x{high2})
= CODE_ERROR CONFIG_ERROR
$ quire bind {file}.qr ⏎ chapter 1, {num} pages ⏎ chapter {n}, {num} pages
! {dir}/{file}.qr({line},{col}) error: margin note is never closed ⏎ {dir}/{file}.qr({line2},1) error: chapter begins inside a margin note
= CODE_ERROR
$ glossa terms {dir}/ ⏎ {num} terms defined ⏎ {dir}/{file}.txt: {num} uses
! term "{word}" is used {n} times and defined nowhere ⏎   first use: {dir}/{file}.txt, paragraph {num}
= CODE_ERROR
$ foliate figures ⏎ {num} pages, {num} figures ⏎ page {num} laid out
! ERROR page {num} points to figure {n}-{hex} ¶ ERROR there is no figure {n}-{hex} in this volume
= CODE_ERROR
$ galley set --width {low} ⏎ setting {num} lines ⏎ {dir}/{file}.gal set
! problem[G{num}]: line is {high} mm wide, column takes {low} mm ⏎   --> {dir}/{file}.gal:{line}:{col}
= CODE_ERROR
$ docmend audit ⏎ pages: {num} ⏎ - place: {dir}/{file}.adoc
! - complaint: heading jumps from level 1 to level {n} ⏎   place: {dir}/{file}.adoc, line {line}
= CODE_ERROR
$ moorage plan --ring {word} ⏎ {n} quays, {num} berths ⏎ berth {file} -> quay {n}
! berth {file} wants {high} cores, quay {n} has {low} left ¶ plan {hex} was not carried out
= INFRA_ERROR CONFIG_ERROR
$ canaryline promote {hex} ⏎ ring 1 took {num} requests ⏎ ring {n} took {num} requests
! promotion failed: ring {n} answers in {high} ms, the ceiling is {low} ms ⏎ build {hex} goes no further
= TEST_FAILURE CODE_ERROR INFRA_ERROR
$ stevedore ship --to {word} ⏎ [INF] hold open ⏎ [INF] crate {file} weighed, {num} kg
! [ERR] crate {file}: manifest lists {high} parts ⏎ [ERR] crate {file}: hold contains {low} parts
= unknown
$ rollgate pass {word} ⏎ waiting at gate {word} ⏎ vote {hex} counted
! gate "{word}" stays shut: {high} votes needed, {low} cast ¶ rule "quorum" of {dir}/{file}.gate refuses build {hex}
= CONFIG_ERROR
$ wirecheck rings/ ⏎ ✓ ring {word} ⏎ ✓ {file} reads {n} variables
! ✗ {file} reads variable {word}_url ⏎ ✗ no ring sets variable {word}_url
= CONFIG_ERROR CODE_ERROR
$ clausewise compare {file}.pact ⏎ {num} clauses ⏎ clause {n}.{low} stands
! clause {n}.{low} grants what clause {n}.{high} forbids ⏎   both speak of "{word}", see {dir}/{file}.pact
= CODE_ERROR CONFIG_ERROR
$ pactum keep --consumer {file} ⏎ {num} promises ⏎ GET /{word} keeps {n} promises
! pact error 17: GET /{word} no longer gives field "{word2}" ⏎   promised to {file} in pact {num}
= TEST_FAILURE CODE_ERROR
$ oathlint {dir}/{file}.oath ⏎ {num} shapes read ⏎ shape {word} agrees
! should be  {word}: whole number ⏎ is         {word}: text
= CODE_ERROR TEST_FAILURE
$ copycheck licences --list permitted.txt ⏎ {num} parts ⏎ {file} {n}.{n2}: permitted
! violation: {file} {n}.{n2}.0 carries licence Marl-{n}, which is not on the list ⏎   brought in by {dir}/{word}
= CODE_ERROR DEPENDENCY_ERROR
$ noticebook build ⏎ collecting {num} notices ⏎ notice of {file} kept
! cannot build the notice book: {n} parts have no holder ⏎   {dir}/{file}, {dir}/{file2}
= CODE_ERROR DEPENDENCY_ERROR CONFIG_ERROR
$ pixelguard diff shots/ ⏎ {num} shots ⏎ shots/{file}.png same
! FAIL shots/{file}.png differs in {high} of 100 tiles ¶ tolerated are {low} tiles, the difference is in shots/{file}.delta.png
= TEST_FAILURE
$ huewheel audit palette.hw ⏎ {num} hues ⏎ {word} on {word2}: contrast {n}.{n2}
! {word} on {word2}: contrast 1.{n}, readable is 4.5 ⏎   palette.hw line {line}, used by {num} pages
= CODE_ERROR TEST_FAILURE
$ lensfix batch raw/ ⏎ raw/{file}.dng opened ⏎ raw/{file}.dng {num} ms
! raw/{file}.dng: FAILED profile {word} ⏎   lens {hex} is not in the profile of {num} lenses
= CONFIG_ERROR CODE_ERROR DEPENDENCY_ERROR
$ tilepress squeeze {dir}/ ⏎ {num} tiles queued ⏎ {file}.tile {num} -> {low} kB
! {file}.tile came out larger than it went in ⏎   {low} kB in, {high} kB out, codec {word}
= unknown
$ wavebench measure mix/ ⏎ rate 48000, {n} tracks ⏎ mix/{file}.wav peak -{n}.{n2}
! Check failed: mix/{file}.wav is clipped at {num}.{n} s ⏎   {high} samples above the ceiling, {low} are tolerated
= TEST_FAILURE CODE_ERROR
$ stemsplit join {file}.stems ⏎ stem {word}: {num} s ⏎ stem {word2}: {num} s
! stem {word} lasts {high} s where all others last {low} s ¶ join of {file}.stems given up
= CODE_ERROR CONFIG_ERROR
$ cuesheet align {file}.cue ⏎ {num} cues ⏎ cue {num} at {sec}
! cue {num} wants {sec} ⏎ cue {num} got   {sec2}
= TEST_FAILURE CODE_ERROR
$ loudrow gate --profile {word} ⏎ profile {word}, {num} files ⏎ {file}.flac   -{low} LU   in
! {file}.flac   -{high} LU   out ¶ 1 file is outside of profile {word} by {n} LU
= TEST_FAILURE CODE_ERROR
$ cartograph stitch sheets/ ⏎ {num} sheets ⏎ sheet {file} joins sheet {file2}
! sheet {file} and sheet {file2} disagree along the east edge ⏎   river {word} ends {high} m from where it begins
= CODE_ERROR
$ contourist trace {file}.dem ⏎ step {low} m ⏎ level {num} m traced
! ContourException: level {high} m crosses level {low} m ⏎   at tile {hex}, {file}.dem row {line}
= CODE_ERROR
$ geofence load zones.gf ⏎ zones.gf: {num} zones ⏎ zone {word}: {num} corners
! geofence: zones.gf:{line}: zone {word} folds over itself ⏎ geofence: zones.gf:{line2}: this corner lies inside of zone {word}
= CODE_ERROR CONFIG_ERROR
$ routeloom solve --town {file} ⏎ {num} stops ⏎ tour {n}: {num} minutes
! infeasible: no tour visits stop {word} before it closes ⏎   earliest arrival {high} min, closing {low} min
= unknown
$ cellwright recalc books/ ⏎ books/{file}.cw: {num} sheets ⏎ sheet {word}: {num} cells
! #ERROR sheet {word}, cell B{line}: circle through C{line2} ⏎   C{line2} = B{line} * {n}
= CODE_ERROR
$ counthouse close --month {n} ⏎ {big} postings ⏎ account {num}: balanced
! account {num} failed to balance: debit  {high}{low}.10 ⏎ account {num}: credit {low}{high}.10
= CODE_ERROR TEST_FAILURE
$ sheetwise types {file}.sw ⏎ columns: {num} ⏎ column {word}: {num} cells of type date
! type error: column {word} is declared date, row {line} holds "{word2}" ⏎ {file}.sw will not be published
= CODE_ERROR
$ axiswise sum {file}.grid ⏎ {n} pivots ⏎ pivot {word} done
! Pivot {word} could not be formed. ⏎     Axis {word2} has {high} labels and {low} values.
= CODE_ERROR
$ graft check grammars/ --strict ⏎ reading grammars/{file}.grm ⏎ {word}: {num} productions
! depth {high} is beyond the permitted {low} at grammars/{file}.grm ⏎   {word} > {word2} > {word}
= CODE_ERROR
$ seedvault thaw {hex} ⏎ box {hex} opened ⏎ lot {word}: {num} seeds
! lot {word}: checksum {hex} ⏎ lot {word}: record says {hex2}
= unknown
$ beamcalc frame {file}.beam ⏎ {num} members ⏎ member {num}: use 0.{low}
! member {num}: use 1.{high} FAIL ⏎   bending, load case {word}, {file}.beam:{line}
= TEST_FAILURE CODE_ERROR
$ knitwork pattern {file}.knit ⏎ {num} rows ⏎ row {num}: {low} stitches
! row {num}: {high} stitches after row {num2} left {low} ⏎   {file}.knit, repeat "{word}"
= CODE_ERROR
$ menuproof allergens ⏎ {num} dishes ⏎ dish {word}: declared
! dish {word} contains {word2} and does not declare it ¶ menu {file} must not be printed
= CODE_ERROR
$ stagehand cue-run act{n} ⏎ lights: {num} ⏎ cue {num} {word} go
! !! cue {num}: lamp {hex} did not answer ⏎ !! cue {num}: {word} stays dark
= INFRA_ERROR CONFIG_ERROR
$ orchard graft-plan ⏎ plan {hex}: {num} trees ⏎ tree {num} <- {word}
! tree {num} is planned for {word} and for {word2} ⏎   plots/{file}.plan lines {line} and {line2}
= CODE_ERROR CONFIG_ERROR
$ postmark route letters/ ⏎ sorting {big} letters ⏎ bag {word}: {num}
! failed to route letters/{file}: no bag takes district {num} ⏎   nearest rule: "{word}*" in {dir}/{file2}.rules
= CONFIG_ERROR CODE_ERROR
$ turnstile replay {file}.tape ⏎ tape {file}: {big} events ⏎ event {big} replayed
! fatal: tape leaves the track at event {big} ⏎     gate {word} is closed, tape walks through it
= TEST_FAILURE CODE_ERROR
$ helix-trim reads/ ⏎ {big} reads ⏎ reads/{file}.fx: {high} % kept
! [fail] reads/{file}.fx: {low} % kept, {high} % is the least ⏎   adapter {hex} is not of kit {word}
= TEST_FAILURE CODE_ERROR CONFIG_ERROR
$ petri fire net/{file}.net ⏎ {num} places ⏎ transition {word} fired {n} times
! net stands still: no transition can fire in marking {hex} ⏎   place {word} holds {low} tokens, {word2} takes {high}
= CODE_ERROR TEST_FAILURE
$ sundial zones --year 20{low} ⏎ {num} zones ⏎ zone {word}: {n} changes
! zone {word}: {n} o'clock happens twice on day {num} ¶ table {file}.sun names no winner
= CODE_ERROR CONFIG_ERROR
$ brine migrate --to {num} ⏎ at version {num} ⏎ applied {num}_{word}
! migration failed: {num}_{word} was edited after it ran ⏎   hash then {hex}, hash now {hex2}
= CODE_ERROR CONFIG_ERROR
$ portico render {dir}/ ⏎ theme {word} ⏎ {dir}/{file}.tpl rendered
! portico: {dir}/{file}.tpl:{line}:{col}: slot "{word}" gets nothing ⏎   layout {file2} demands it
= CODE_ERROR
$ choirmaster rehearse {file}.score ⏎ {n} voices ⏎ bar {num}: {word} sings
! Error in bar {num}: it adds up to {high}/16 in voice {word} ⏎ the measure asks for {low}/16
= CODE_ERROR
$ packrat fetch depots.lst ⏎ depots.lst: {num} entries ⏎ {file}-{n}.{n2} taken from depot {word}
! fatal - depot {word} hands out {file}-{n}.{n2} with weight {high} ⏎ lock line {line} says weight {low}
= DEPENDENCY_ERROR INFRA_ERROR
$ lanternfish probe --deep ⏎ probe {hex} down ⏎ {num} m: {word} heard
! exception at {num} m: echo of {word} is older than its call ⏎     clock {hex} runs {high} s ahead
= unknown
$ tollbooth quota {word} ⏎ counting {big} calls ⏎ tenant {file}: {num} calls
! tenant {file} used {high} of {low} credits ¶ tenant {file} is over quota, release {hex} withheld
= INFRA_ERROR CONFIG_ERROR
$ mosaic assemble --manifest {file}.mos ⏎ {num} pieces ⏎ piece {hex} laid
! ERROR(mosaic): piece {hex} is named in {file}.mos and lies nowhere in {dir}/ ⏎   looked in {n} folders
= CODE_ERROR CONFIG_ERROR
`;

const WORDS =
  'amber basin cedar delta ember fjord grove heath inlet jetty kelp lagoon meadow nectar onyx pebble quartz reed slate thorn umber vale';
const FILES =
  'aster bramble clover dahlia elder fennel ginger hazel iris juniper kale lupin mallow nettle oxlip poppy quince rowan sorrel tansy';
const DIRECTORIES = 'attic barn cellar depot engine forge gallery harbor kitchen library';

type Random = () => number;

const VALUES: Readonly<Record<string, (random: Random) => string>> = {
  n: (random) => drawBetween(random, 2, 9),
  num: (random) => drawBetween(random, 100, 990),
  big: (random) => drawBetween(random, 1_000, 99_000),
  low: (random) => drawBetween(random, 11, 49),
  high: (random) => drawBetween(random, 60, 99),
  line: (random) => drawBetween(random, 3, 400),
  col: (random) => drawBetween(random, 2, 78),
  sec: (random) => `${drawBetween(random, 1, 90)}.${drawBetween(random, 1, 9)}`,
  hex: (random) => Math.floor(0x1000_0000 + random() * 0xe000_0000).toString(16),
  word: (random) => pick(random, WORDS.split(' ')),
  file: (random) => pick(random, FILES.split(' ')),
  dir: (random) => pick(random, DIRECTORIES.split(' ')),
};

interface Line {
  readonly text: string;
  readonly role?: 'telling' | 'harmless';
}

/**
 * Returns the first `count` logs of a seed: every tool in turn, half of the logs with time stamps. The same
 * arguments give the same logs.
 */
export function inventLogs(count: number, seed: number): InventedLog[] {
  const random = createRandom(seed);
  const tools = TOOLS.trim().split(/^\$ /m).slice(1);
  const firstTool = Math.floor(random() * tools.length);
  const firstKind = Math.floor(random() * HARMLESS.length);
  return Array.from({ length: count }, (_, index) => {
    const tool = tools[(firstTool + index) % tools.length] ?? '';
    const kind = HARMLESS[(firstKind + index * 37) % HARMLESS.length] ?? { name: 'none', lines: [] };
    const lines = withHarmless(random, createStep(random, tool), kind);
    const stamp = index % 4 < 2 ? createStamp(random) : () => '';
    return {
      name: `${tool.slice(0, tool.indexOf(' '))} with ${kind.name}`,
      lines: lines.map((line) => stamp() + line.text),
      telling: listNumbers(lines, 'telling'),
      harmlessAt: listNumbers(lines, 'harmless'),
      ...findCategories(tool),
    };
  });
}

function findCategories(tool: string): Pick<InventedLog, 'category' | 'alsoOk'> {
  const named = tool.trimEnd().split('\n= ')[1] ?? '';
  if (named === 'unknown') return { category: null, alsoOk: [] };
  const [category = null, ...alsoOk] = named.split(' ').map((name) => Category.parse(name));
  return { category, alsoOk };
}

function createStep(random: Random, tool: string): Line[] {
  const [ordinary = '', telling = ''] = tool.split(/\n[!=] /);
  const [command = '', opening = '', ...repeats] = ordinary.split(' ⏎ ');
  const more = (most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => fill(random, pick(random, repeats)));
  const facts = new Map<string, string>();
  const [first = '', second = ''] = telling.split(/ [⏎¶] /).map((line) => fill(random, line, facts));
  const call = fill(random, command, facts);
  const environment = random() < 0.4 ? ['env:', `  CI_LANE: ${fill(random, '{word}')}`] : [];
  const shell = pick(random, ['/usr/bin/bash -e {0}', '/usr/bin/bash --noprofile --norc -e -o pipefail {0}']);
  const head = [
    `##[group]Run ${call}`,
    `\u001b[36;1m${call}\u001b[0m`,
    `shell: ${shell}`,
    ...environment,
    '##[endgroup]',
  ];
  const before = random() < 0.15 ? [] : [fill(random, opening), ...more(5)];
  const gap = telling.includes(' ¶ ') ? pick(random, [[], [''], more(2)]) : [];
  const behind = pick(random, [[], [''], more(2)]);
  return [
    ...[...head, ...before].map((text) => ({ text })),
    { text: first, role: 'telling' },
    ...gap.map((text) => ({ text })),
    { text: second, role: 'telling' },
    ...[...behind, '##[error]Process completed with exit code 3.'].map((text) => ({ text })),
  ];
}

/**
 * Inserts the lines of a harmless kind. The head of another step is put first, an `env:` block into the head,
 * a clean-up at the end, and anything else outside of the informative lines.
 */
function withHarmless(random: Random, step: readonly Line[], kind: HarmlessKind): Line[] {
  const lines = kind.name.startsWith('env:')
    ? step.filter(({ text }) => text !== 'env:' && !text.startsWith('  CI_LANE'))
    : step;
  const headEnd = lines.findIndex(({ text }) => text === '##[endgroup]');
  const from = lines.findIndex(({ role }) => role === 'telling');
  const to = lines.findLastIndex(({ role }) => role === 'telling');
  const ordinary = lines
    .map((_, at) => at)
    .filter((at) => at === 0 || (at > headEnd && (at <= from || at > to)));
  let at = pick(random, ordinary);
  if (kind.name.startsWith('clean-up:')) at = lines.length;
  else if (kind.name.startsWith('env:')) at = headEnd;
  else if (kind.lines[0]?.startsWith('##[group]')) at = 0;
  return lines.toSpliced(at, 0, ...kind.lines.map((text): Line => ({ text, role: 'harmless' })));
}

/**
 * Replaces every word in braces. The same word has the same value wherever `facts` are shared, and `{word}`
 * and `{word2}` have different values.
 */
function fill(random: Random, template: string, facts = new Map<string, string>()): string {
  return template.replace(/\{([a-z]{1,5})\d?\}/g, (key: string, kind: string) => {
    let value = facts.get(key);
    while (value === undefined || (!facts.has(key) && [...facts.values()].includes(value)))
      value = VALUES[kind]?.(random) ?? key;
    facts.set(key, value);
    return value;
  });
}

function listNumbers(lines: readonly Line[], role: Line['role']): number[] {
  return lines.flatMap((line, index) => (line.role === role ? [index + 1] : []));
}

function createStamp(random: Random): () => string {
  let time = Date.UTC(2026, 2, 4, 5, 6, 7) + Math.floor(random() * 80_000_000);
  return () => {
    time += Math.floor(random() * 900);
    return `${new Date(time).toISOString().slice(0, -1)}${drawBetween(random, 1_000, 9_999)}Z `;
  };
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new RangeError('there is nothing to pick from');
  return value;
}

function drawBetween(random: Random, least: number, most: number): string {
  return String(least + Math.floor(random() * (most - least + 1)));
}

/** Creates a generator of random numbers from 0 up to 1: Marsaglia's 32-bit xorshift (2003). */
function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
}
