import { create, type Program, replace } from './program.ts';

/*
 * Written after the choice among commits was. Their harmless commits also replace and delete lines, and some
 * faults are in other files than the failing line.
 */

const seats: Program = {
  name: 'seats',
  language: 'JavaScript',
  test: [process.execPath, '--test'],
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin bookings',
      edits: [
        create('package.json', '{ "name": "seats", "version": "1.0.0", "type": "module" }'),
        create('config/hall.json', '{', '  "rowLength": 6,', '  "rows": 4,', '  "title": "Main hall"', '}'),
        create(
          'src/store.ts',
          'export interface Booking {',
          '  seat: number;',
          '  guest?: { name: string };',
          '}',
          '',
          'const bookings: Booking[] = [];',
          '',
          'export function book(seat: number, guest?: { name: string }): void {',
          '  bookings.push({ seat, guest });',
          '}',
          '',
          'export function listBookings(): Booking[] {',
          '  return bookings.toSorted((one, other) => one.seat - other.seat);',
          '}',
          '',
          'export function clear(): void {',
          '  bookings.length = 0;',
          '}',
        ),
        create(
          'src/plan.ts',
          "import { readFileSync } from 'node:fs';",
          "import { listBookings } from './store.ts';",
          '',
          "const hall = JSON.parse(readFileSync(new URL('../config/hall.json', import.meta.url), 'utf8'));",
          '',
          'export function guestNames(): string[] {',
          '  return listBookings().map((booking) => booking.guest!.name.toUpperCase());',
          '}',
          '',
          'export function rowOf(seat: number): number {',
          '  return Math.floor((seat - 1) / hall.rowLength) + 1;',
          '}',
          '',
          'export function freeSeats(limit = 3): number[] {',
          '  const taken = new Set(listBookings().map(({ seat }) => seat));',
          '  const free: number[] = [];',
          '  for (let seat = 1; free.length < limit; seat += 1) {',
          '    if (!taken.has(seat)) free.push(seat);',
          '  }',
          '  return free;',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Leave bookings without a guest out',
      edits: [
        replace(
          'src/store.ts',
          '  bookings.push({ seat, guest });',
          `  if (guest === undefined) return;
  bookings.push({ seat, guest });`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test the plan',
      edits: [
        create(
          'test/plan.test.ts',
          "import assert from 'node:assert/strict';",
          "import { beforeEach, test } from 'node:test';",
          "import { freeSeats, guestNames, rowOf } from '../src/plan.ts';",
          "import { book, clear } from '../src/store.ts';",
          '',
          'beforeEach(() => {',
          '  clear();',
          "  book(2, { name: 'Kim' });",
          '  book(4);',
          '});',
          '',
          "test('lists the guests', () => {",
          "  assert.deepEqual(guestNames(), ['KIM']);",
          '});',
          '',
          "test('finds the row of a seat', () => {",
          '  assert.equal(rowOf(6), 1);',
          '  assert.equal(rowOf(7), 2);',
          '});',
          '',
          "test('offers free seats', () => {",
          '  assert.deepEqual(freeSeats(), [1, 3, 4]);',
          '});',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Rename the hall',
      edits: [replace('config/hall.json', '"Main hall"', '"Great hall"')],
    },
    {
      author: 'Dora Lind',
      message: 'Sort with a named function',
      edits: [
        replace(
          'src/store.ts',
          'bookings.toSorted((one, other) => one.seat - other.seat)',
          'bookings.toSorted(bySeat)',
        ),
        replace(
          'src/store.ts',
          'export function clear(',
          `function bySeat(one: Booking, other: Booking): number {
  return one.seat - other.seat;
}

export function clear(`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Collect taken seats in a function',
      edits: [
        replace(
          'src/plan.ts',
          '  const taken = new Set(listBookings().map(({ seat }) => seat));',
          '  const taken = takenSeats();',
        ),
        replace(
          'src/plan.ts',
          'export function rowOf(',
          `function takenSeats(): Set<number> {
  return new Set(listBookings().map(({ seat }) => seat));
}

export function rowOf(`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Test the second row',
      edits: [
        replace(
          'test/plan.test.ts',
          '  assert.equal(rowOf(7), 2);',
          `  assert.equal(rowOf(7), 2);
  assert.equal(rowOf(12), 2);`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Keep every booking',
      edits: [
        replace(
          'src/store.ts',
          `  if (guest === undefined) return;
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Offer fewer seats',
      edits: [replace('src/plan.ts', 'limit = 3', 'limit = 2')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Name seats by row',
      edits: [replace('config/hall.json', '"rowLength"', '"seatsPerRow"')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Simplify rows',
      edits: [replace('src/plan.ts', '(seat - 1) / hall.rowLength', 'seat / hall.rowLength')],
    },
  },
};

const wallets: Program = {
  name: 'wallets',
  language: 'Python',
  test: ['python3', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'],
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin wallets',
      edits: [
        create('tests/__init__.py', ''),
        create('wallet/__init__.py', ''),
        create(
          'wallet/rates.py',
          'class Rates:',
          '    def __init__(self, table=None):',
          '        self.table = table or {"EUR": 1.0, "CHF": 0.5}',
          '        self.digits = 2',
          '',
          '    def to_euro(self, amount, currency):',
          '        return round(amount * self.table[currency], self.digits)',
        ),
        create(
          'wallet/wallet.py',
          'from wallet.rates import Rates',
          '',
          '',
          'class Wallet:',
          '    def __init__(self, rates=None, fee=1):',
          '        self.rates = rates or Rates()',
          '        self.fee = fee',
          '        self.entries = []',
          '',
          '    def add(self, amount, currency="EUR", note=None):',
          '        self.entries.append({"amount": amount, "currency": currency, "note": note})',
          '',
          '    def total(self):',
          '        total = 0',
          '        for entry in self.entries:',
          '            total += self.rates.to_euro(entry["amount"], entry["currency"])',
          '        return total - self.fee',
          '',
          '    def notes(self):',
          '        return [entry["note"].strip() for entry in self.entries]',
          '',
          '    def recent(self, count):',
          '        return [entry["amount"] for entry in self.entries[-count:]]',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Write a note where none is given',
      edits: [
        replace(
          'wallet/wallet.py',
          '        self.entries.append(',
          `        if note is None:
            note = "no note"
        self.entries.append(`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test wallets',
      edits: [
        create(
          'tests/test_wallet.py',
          'import unittest',
          '',
          'from wallet.wallet import Wallet',
          '',
          '',
          'class WalletTest(unittest.TestCase):',
          '    def setUp(self):',
          '        self.wallet = Wallet()',
          '        self.wallet.add(10)',
          '        self.wallet.add(4, "CHF", " tea ")',
          '',
          '    def test_total(self):',
          '        self.assertEqual(self.wallet.total(), 11)',
          '',
          '    def test_notes(self):',
          '        self.assertEqual(self.wallet.notes(), ["no note", "tea"])',
          '',
          '    def test_recent(self):',
          '        self.assertEqual(self.wallet.recent(1), [4])',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Sum with a generator',
      edits: [
        replace(
          'wallet/wallet.py',
          `        total = 0
        for entry in self.entries:
            total += self.rates.to_euro(entry["amount"], entry["currency"])
        return total - self.fee`,
          `        amounts = (self.rates.to_euro(entry["amount"], entry["currency"]) for entry in self.entries)
        return sum(amounts) - self.fee`,
        ),
      ],
    },
    {
      author: 'Dora Lind',
      message: 'Quote more currencies',
      edits: [replace('wallet/rates.py', '{"EUR": 1.0,', '{"USD": 0.9, "EUR": 1.0,')],
    },
    {
      author: 'Emil Roth',
      message: 'Round to three digits',
      edits: [replace('wallet/rates.py', 'self.digits = 2', 'self.digits = 3')],
    },
    { author: 'Fay Orr', message: 'Add a readme', edits: [create('README.md', '# Wallets')] },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Store notes as they are',
      edits: [
        replace(
          'wallet/wallet.py',
          `        if note is None:
            note = "no note"
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Raise the fee',
      edits: [replace('wallet/wallet.py', 'fee=1', 'fee=2')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Shorten the keys of entries',
      edits: [
        replace(
          'wallet/wallet.py',
          '"currency": currency, "note": note}',
          '"currency": currency, "text": note}',
        ),
      ],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Include the entry before',
      edits: [replace('wallet/wallet.py', 'self.entries[-count:]', 'self.entries[-count - 1:]')],
    },
  },
};

const pipes: Program = {
  name: 'pipes',
  language: 'Go',
  test: ['go', 'test', './...'],
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin the pipeline',
      edits: [
        create('go.mod', 'module example.test/pipes', '', 'go 1.21'),
        create(
          'source/source.go',
          'package source',
          '',
          'import "strings"',
          '',
          'type Row struct {',
          '\tFields map[string]string',
          '\tNext   *Row',
          '}',
          '',
          'func Parse(line string) *Row {',
          '\trow := &Row{Fields: map[string]string{}}',
          '\tfor _, part := range strings.Split(line, ";") {',
          '\t\tpair := strings.SplitN(part, "=", 2)',
          '\t\trow.Fields[pair[0]] = pair[1]',
          '\t}',
          '\treturn row',
          '}',
        ),
        create(
          'pipe/pipe.go',
          'package pipe',
          '',
          'import "example.test/pipes/source"',
          '',
          'const Batch = 2',
          '',
          'func Names(lines []string) []string {',
          '\tnames := []string{}',
          '\tfor _, line := range lines {',
          '\t\trow := source.Parse(line)',
          '\t\tnames = append(names, row.Fields["name"])',
          '\t}',
          '\treturn names',
          '}',
          '',
          'func Batches(items []string) [][]string {',
          '\tout := [][]string{}',
          '\tfor start := 0; start < len(items); start += Batch {',
          '\t\tend := start + Batch',
          '\t\tif end > len(items) {',
          '\t\t\tend = len(items)',
          '\t\t}',
          '\t\tout = append(out, items[start:end])',
          '\t}',
          '\treturn out',
          '}',
          '',
          'func Canonical(fields map[string]string) map[string]string {',
          '\treturn map[string]string{"name": fields["name"], "kind": fields["type"]}',
          '}',
          '',
          'func Kind(fields map[string]string) string {',
          '\treturn Canonical(fields)["kind"]',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Ignore parts without a value',
      edits: [
        replace(
          'source/source.go',
          '\t\trow.Fields[pair[0]] = pair[1]',
          `\t\tif len(pair) < 2 {
\t\t\tcontinue
\t\t}
\t\trow.Fields[pair[0]] = pair[1]`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test the pipeline',
      edits: [
        create(
          'pipe/pipe_test.go',
          'package pipe',
          '',
          'import (',
          '\t"reflect"',
          '\t"testing"',
          ')',
          '',
          'func TestNames(t *testing.T) {',
          '\tgot := Names([]string{"name=a;type=x", "name=b;broken"})',
          '\tif !reflect.DeepEqual(got, []string{"a", "b"}) {',
          '\t\tt.Fatalf("Names() = %v, want [a b]", got)',
          '\t}',
          '}',
          '',
          'func TestBatches(t *testing.T) {',
          '\tgot := Batches([]string{"a", "b", "c", "d", "e"})',
          '\tif len(got) != 3 || len(got[2]) != 1 {',
          '\t\tt.Fatalf("Batches() = %v, want [[a b] [c d] [e]]", got)',
          '\t}',
          '}',
          '',
          'func TestKind(t *testing.T) {',
          '\tif got := Kind(map[string]string{"type": "x"}); got != "x" {',
          '\t\tt.Fatalf("Kind() = %q, want x", got)',
          '\t}',
          '}',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Drop a field that nothing reads',
      edits: [
        replace(
          'source/source.go',
          `\tNext   *Row
`,
          '',
        ),
      ],
    },
    {
      author: 'Dora Lind',
      message: 'Declare the names without a literal',
      edits: [replace('pipe/pipe.go', '\tnames := []string{}', '\tvar names []string')],
    },
    {
      author: 'Emil Roth',
      message: 'Describe the batches',
      edits: [
        replace(
          'pipe/pipe.go',
          'func Batches(',
          `// Batches cuts items into parts of equal length.
func Batches(`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Return early of an empty line',
      edits: [
        replace(
          'source/source.go',
          '\tfor _, part := range',
          `\tif line == "" {
\t\treturn row
\t}
\tfor _, part := range`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Expect pairs',
      edits: [
        replace(
          'source/source.go',
          `\t\tif len(pair) < 2 {
\t\t\tcontinue
\t\t}
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Make larger batches',
      edits: [replace('pipe/pipe.go', 'const Batch = 2', 'const Batch = 3')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Call kinds classes',
      edits: [replace('pipe/pipe.go', '"kind": fields["type"]', '"class": fields["type"]')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Stop before the last batch',
      edits: [replace('pipe/pipe.go', 'start < len(items); start', 'start < len(items)-1; start')],
    },
  },
};

export const LATER_PROGRAMS: readonly Program[] = [seats, wallets, pipes];
