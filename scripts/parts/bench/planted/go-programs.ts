import { create, type Program, replace } from './program.ts';

const TEST = ['go', 'test', './...'];
const MODULE = create('go.mod', 'module example.test/planted', '', 'go 1.21');

const parcels: Program = {
  name: 'parcels',
  language: 'Go',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin parcels',
      edits: [
        MODULE,
        create(
          'tariff/tariff.go',
          'package tariff',
          '',
          'var Prices = map[string]int{\n\t"letter": 2,\n\t"parcel": 7,\n}',
        ),
        create(
          'parcel/parcel.go',
          'package parcel',
          '',
          'import "example.test/planted/tariff"',
          '',
          'type Address struct {',
          '\tCity string',
          '}',
          '',
          'type Parcel struct {',
          '\tKind   string',
          '\tTo     *Address',
          '\tWeight int',
          '}',
          '',
          'func Label(p Parcel) string {',
          '\tcity := p.To.City',
          '\treturn p.Kind + " to " + city',
          '}',
          '',
          'func Price(p Parcel) int {',
          '\treturn tariff.Prices["parcel"] + p.Weight',
          '}',
          '',
          'func Heaviest(parcels []Parcel) int {',
          '\tmost := 0',
          '\tfor i := 0; i < len(parcels); i++ {',
          '\t\tif parcels[i].Weight > most {',
          '\t\t\tmost = parcels[i].Weight',
          '\t\t}',
          '\t}',
          '\treturn most',
          '}',
          '',
          'func Days(express bool) int {',
          '\tdays := 5',
          '\tif express {',
          '\t\tdays = 1',
          '\t}',
          '\treturn days',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Label parcels without an address',
      edits: [
        replace(
          'parcel/parcel.go',
          '\tcity := p.To.City',
          `\tif p.To == nil {
\t\treturn p.Kind
\t}
\tcity := p.To.City`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test parcels',
      edits: [
        create(
          'parcel/parcel_test.go',
          'package parcel',
          '',
          'import "testing"',
          '',
          'func TestLabelWithoutAddress(t *testing.T) {',
          '\tif got := Label(Parcel{Kind: "letter"}); got != "letter" {',
          '\t\tt.Errorf("Label() = %q, want %q", got, "letter")',
          '\t}',
          '}',
          '',
          'func TestPrice(t *testing.T) {',
          '\tif got := Price(Parcel{Weight: 3}); got != 10 {',
          '\t\tt.Errorf("Price() = %d, want 10", got)',
          '\t}',
          '}',
          '',
          'func TestHeaviest(t *testing.T) {',
          '\tif got := Heaviest([]Parcel{{Weight: 2}, {Weight: 5}}); got != 5 {',
          '\t\tt.Errorf("Heaviest() = %d, want 5", got)',
          '\t}',
          '}',
          '',
          'func TestDays(t *testing.T) {',
          '\tif got := Days(false); got != 5 {',
          '\t\tt.Errorf("Days() = %d, want 5", got)',
          '\t}',
          '}',
        ),
      ],
    },
  ],
  harmless: [
    { author: 'Carl Meyer', message: 'Add a readme', edits: [create('README.md', '# Parcels')] },
    {
      author: 'Dora Lind',
      message: 'Describe parcels',
      edits: [
        replace(
          'parcel/parcel.go',
          'type Parcel struct {',
          `// Parcel is what is sent.
type Parcel struct {`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Count parcels',
      edits: [
        replace(
          'parcel/parcel.go',
          `\treturn days
}
`,
          `\treturn days
}

func Count(parcels []Parcel) int {
\treturn len(parcels)
}
`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Add a tariff',
      edits: [
        replace(
          'tariff/tariff.go',
          `\t"letter": 2,
`,
          `\t"letter": 2,
\t"pallet": 90,
`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Simplify labels',
      edits: [
        replace(
          'parcel/parcel.go',
          `\tif p.To == nil {
\t\treturn p.Kind
\t}
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Promise less time',
      edits: [replace('parcel/parcel.go', 'days := 5', 'days := 4')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Name parcels by size',
      edits: [replace('tariff/tariff.go', '"parcel": 7', '"package": 7')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Look at every parcel',
      edits: [replace('parcel/parcel.go', 'i < len(parcels); i++', 'i <= len(parcels); i++')],
    },
  },
};

const gauges: Program = {
  name: 'gauges',
  language: 'Go',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin gauges',
      edits: [
        MODULE,
        create(
          'labels.go',
          'package planted',
          '',
          'func baseLabels() map[string]string {',
          '\treturn map[string]string{',
          '\t\t"region": "north",',
          '\t\t"tier":   "one",',
          '\t}',
          '}',
        ),
        create(
          'gauge.go',
          'package planted',
          '',
          'import "strings"',
          '',
          'type Gauge struct {',
          '\tName   string',
          '\tlabels map[string]string',
          '\tvalues []int',
          '}',
          '',
          'func (g *Gauge) Set(key, value string) {',
          '\tg.labels[key] = value',
          '}',
          '',
          'func NewGauge(name string, options ...string) *Gauge {',
          '\tprefix := "app"',
          '\tif len(options) > 0 {',
          '\t\tprefix = options[0]',
          '\t}',
          '\treturn &Gauge{Name: prefix + "_" + name}',
          '}',
          '',
          'func Place() string {',
          '\tlabels := baseLabels()',
          '\treturn strings.ToUpper(labels["region"])',
          '}',
          '',
          'func (g *Gauge) Last(count int) []int {',
          '\treturn g.values[len(g.values)-count:]',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Create labels when they are needed',
      edits: [
        replace(
          'gauge.go',
          '\tg.labels[key] = value',
          `\tif g.labels == nil {
\t\tg.labels = map[string]string{}
\t}
\tg.labels[key] = value`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test gauges',
      edits: [
        create(
          'gauge_test.go',
          'package planted',
          '',
          'import (',
          '\t"reflect"',
          '\t"testing"',
          ')',
          '',
          'func TestSetCreatesLabels(t *testing.T) {',
          '\tg := NewGauge("load")',
          '\tg.Set("host", "a")',
          '\tif g.labels["host"] != "a" {',
          '\t\tt.Fatalf("labels = %v", g.labels)',
          '\t}',
          '}',
          '',
          'func TestNameHasPrefix(t *testing.T) {',
          '\tif got := NewGauge("load").Name; got != "app_load" {',
          '\t\tt.Fatalf("Name = %q, want %q", got, "app_load")',
          '\t}',
          '}',
          '',
          'func TestPlace(t *testing.T) {',
          '\tif got := Place(); got != "NORTH" {',
          '\t\tt.Fatalf("Place() = %q, want %q", got, "NORTH")',
          '\t}',
          '}',
          '',
          'func TestLast(t *testing.T) {',
          '\tg := &Gauge{values: []int{1, 2, 3}}',
          '\tif got := g.Last(2); !reflect.DeepEqual(got, []int{2, 3}) {',
          '\t\tt.Fatalf("Last(2) = %v, want [2 3]", got)',
          '\t}',
          '}',
        ),
      ],
    },
  ],
  harmless: [
    { author: 'Carl Meyer', message: 'Add notes', edits: [create('docs/notes.md', '# Notes')] },
    {
      author: 'Dora Lind',
      message: 'Describe gauges',
      edits: [
        replace(
          'gauge.go',
          'type Gauge struct {',
          `// Gauge holds values that go up and down.
type Gauge struct {`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Add values',
      edits: [
        replace(
          'gauge.go',
          'func Place() string {',
          `func (g *Gauge) Add(value int) {
\tg.values = append(g.values, value)
}

func Place() string {`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Move to tier two',
      edits: [replace('labels.go', '"tier":   "one"', '"tier":   "two"')],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Make Set shorter',
      edits: [
        replace(
          'gauge.go',
          `\tif g.labels == nil {
\t\tg.labels = map[string]string{}
\t}
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Use the name of the service',
      edits: [replace('gauge.go', 'prefix := "app"', 'prefix := "svc"')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Call regions zones',
      edits: [replace('labels.go', '"region": "north"', '"zone":   "north"')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Leave room for the newest',
      edits: [replace('gauge.go', 'len(g.values)-count:]', 'len(g.values)-count-1:]')],
    },
  },
};

export const GO_PROGRAMS: readonly Program[] = [parcels, gauges];
