import { createGoTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const goMod = 'module harbor.example/tides\n\ngo 1.24\n';

/** Go's own commands, and tools that are Go modules. */
export const rows: readonly ToolRow[] = [
  {
    version: 'go version',
    slug: 'go-vet-copied-lock',
    tool: 'go-vet',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'go.mod': goMod,
      'gauge/gauge.go':
        'package gauge\n\nimport "sync"\n\n// Gauge counts readings.\ntype Gauge struct {\n\tmutex sync.Mutex\n\tcount int\n}\n\n// Add counts one reading.\nfunc (g Gauge) Add() int {\n\tg.mutex.Lock()\n\tdefer g.mutex.Unlock()\n\tg.count++\n\treturn g.count\n}\n',
    },
    green: { 'gauge/gauge.go': ['func (g Gauge) Add', 'func (g *Gauge) Add'] },
    run: 'go vet ./...',
    exitCode: 1,
    telling: ['Add passes lock by value'],
  },
  {
    version: 'go version',
    slug: 'go-build-import-cycle',
    tool: 'go-build',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'go.mod': goMod,
      'berth/berth.go':
        'package berth\n\nimport "harbor.example/tides/boat"\n\n// Fits tells whether a boat fits.\nfunc Fits(b boat.Boat) bool { return b.Length < 12 }\n',
      'boat/boat.go':
        'package boat\n\nimport "harbor.example/tides/berth"\n\n// Boat is a boat.\ntype Boat struct{ Length int }\n\n// Berth tells whether there is room.\nfunc (b Boat) Berth() bool { return berth.Fits(b) }\n',
    },
    run: 'go build ./...',
    exitCode: 1,
    telling: ['import cycle not allowed'],
  },
  {
    version: 'go version',
    slug: 'go-test-map-write-panic',
    tool: 'go-test',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'go.mod': goMod,
      'log/log.go':
        'package log\n\n// Book holds entries by day.\ntype Book struct{ days map[string][]string }\n\n// Add notes an entry.\nfunc (b *Book) Add(day, entry string) { b.days[day] = append(b.days[day], entry) }\n',
      'log/log_test.go':
        'package log\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tvar book Book\n\tbook.Add("monday", "left at six")\n}\n',
    },
    run: 'go test ./...',
    exitCode: 1,
    telling: ['panic: assignment to entry in nil map'],
  },
  {
    version: 'go version',
    slug: 'go-test-fuzz-seed',
    tool: 'go-test',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'go.mod': goMod,
      'name/name.go':
        'package name\n\n// Reverse turns a name around.\nfunc Reverse(name string) string {\n\tbytes := []byte(name)\n\tfor i, j := 0, len(bytes)-1; i < j; i, j = i+1, j-1 {\n\t\tbytes[i], bytes[j] = bytes[j], bytes[i]\n\t}\n\treturn string(bytes)\n}\n',
      'name/name_test.go':
        'package name\n\nimport (\n\t"testing"\n\t"unicode/utf8"\n)\n\nfunc FuzzReverse(f *testing.F) {\n\tf.Add("Anna")\n\tf.Add("Jörg")\n\tf.Fuzz(func(t *testing.T, name string) {\n\t\tif !utf8.ValidString(Reverse(name)) {\n\t\t\tt.Errorf("Reverse(%q) is no text: %q", name, Reverse(name))\n\t\t}\n\t})\n}\n',
    },
    run: 'go test -run=FuzzReverse ./name',
    exitCode: 1,
    telling: ['is no text'],
  },
  {
    ...createGoTool('honnef.co/go/tools/cmd/staticcheck@v0.8.2'),
    slug: 'staticcheck-defer-before-check',
    tool: 'staticcheck',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'go.mod': goMod,
      'main.go':
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\tfile, err := os.Open("tides.csv")\n\tdefer file.Close()\n\tif err != nil {\n\t\tfmt.Println(err)\n\t}\n}\n',
    },
    run: 'staticcheck ./...',
    exitCode: 1,
    telling: ['SA5001'],
  },
  {
    ...createGoTool('mvdan.cc/gofumpt@v0.12.0'),
    slug: 'gofumpt-unformatted',
    tool: 'gofumpt',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'go.mod': goMod,
      'main.go':
        'package main\n\nimport "fmt"\n\nfunc main() {\n\n\tvar name = "tides"\n\tfmt.Println(name)\n}\n',
    },
    green: {
      'main.go': 'package main\n\nimport "fmt"\n\nfunc main() {\n\tname := "tides"\n\tfmt.Println(name)\n}\n',
    },
    run: 'if [ -n "$(gofumpt -l .)" ]; then\n  gofumpt -d .\n  exit 1\nfi',
    exitCode: 1,
    telling: ['diff main.go.orig main.go', '+\tname := "tides"'],
  },
  {
    ...createGoTool('github.com/kisielk/errcheck@v1.30.0'),
    slug: 'errcheck-unchecked-remove',
    tool: 'errcheck',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'go.mod': goMod,
      'clean.go':
        'package tides\n\nimport "os"\n\n// Clean removes the cache.\nfunc Clean(path string) {\n\tos.RemoveAll(path)\n}\n',
    },
    green: { 'clean.go': ['Clean(path string) {\n\tos', 'Clean(path string) error {\n\treturn os'] },
    run: 'errcheck ./...',
    exitCode: 1,
    telling: ['os.RemoveAll(path)'],
  },
  {
    ...createGoTool('github.com/fzipp/gocyclo/cmd/gocyclo@v0.6.0'),
    slug: 'gocyclo-over-threshold',
    tool: 'gocyclo',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'go.mod': goMod,
      'rate.go':
        'package tides\n\n// Rate is the price of a berth.\nfunc Rate(days, length int, member bool) int {\n\tif days > 30 {\n\t\treturn 10\n\t}\n\tif days > 7 && length < 8 {\n\t\treturn 20\n\t}\n\tif member || length < 5 {\n\t\treturn 30\n\t}\n\treturn 40\n}\n',
    },
    run: 'gocyclo -over 5 .',
    exitCode: 1,
    telling: ['6 tides Rate'],
  },
  {
    ...createGoTool('github.com/rhysd/actionlint/cmd/actionlint@v1.7.12'),
    slug: 'actionlint-undefined-output',
    tool: 'actionlint',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      '.github/workflows/build.yml':
        'name: build\non: [push]\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n      - id: meta\n        run: echo "tag=1.2" >> "$GITHUB_OUTPUT"\n  publish:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo "$' +
        '{{ needs.build.outputs.tag }}"\n',
    },
    run: 'actionlint -no-color .github/workflows/build.yml',
    exitCode: 1,
    telling: ['property "build" is not defined in object type'],
  },
  {
    ...createGoTool('mvdan.cc/sh/v3/cmd/shfmt@v3.14.1'),
    slug: 'shfmt-indent',
    tool: 'shfmt',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'ci/deploy.sh':
        '#!/bin/sh\nset -e\nfor host in north south; do\n        ssh "$host" systemctl restart tides\ndone\n',
    },
    green: { 'ci/deploy.sh': ['        ssh', '  ssh'] },
    run: 'shfmt -i 2 -d ci',
    exitCode: 1,
    telling: ['-        ssh', '+  ssh'],
  },
  {
    ...createGoTool('gotest.tools/gotestsum@v1.13.0'),
    slug: 'gotestsum-subtest',
    tool: 'gotestsum',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'go.mod': goMod,
      'fare/fare.go':
        'package fare\n\n// Of is the fare of a trip.\nfunc Of(zones int) int { return zones * 150 }\n',
      'fare/fare_test.go':
        'package fare\n\nimport "testing"\n\nfunc TestOf(t *testing.T) {\n\tfor name, want := range map[string]int{"one": 150, "three": 400} {\n\t\tzones := map[string]int{"one": 1, "three": 3}[name]\n\t\tt.Run(name, func(t *testing.T) {\n\t\t\tif got := Of(zones); got != want {\n\t\t\t\tt.Errorf("Of(%d) = %d, want %d", zones, got, want)\n\t\t\t}\n\t\t})\n\t}\n}\n',
    },
    green: { 'fare/fare_test.go': ['400', '450'] },
    run: 'gotestsum --format testname',
    exitCode: 1,
    telling: ['Of(3) = 450, want 400'],
  },
  {
    ...createGoTool('github.com/magefile/mage@v1.17.2'),
    slug: 'mage-charts-missing',
    tool: 'mage',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    setup: 'go mod tidy',
    files: {
      'go.mod': goMod,
      'magefile.go':
        '//go:build mage\n\npackage main\n\nimport (\n\t"errors"\n\t"fmt"\n\t"os"\n)\n\n// Pack packs the charts.\nfunc Pack() error {\n\tfmt.Println("packing the charts")\n\tif _, err := os.Stat("charts/index.json"); err != nil {\n\t\treturn errors.New("no charts to pack: charts/index.json was never built")\n\t}\n\treturn nil\n}\n',
    },
    green: { 'charts/index.json': '{}\n' },
    run: 'mage pack',
    exitCode: 1,
    telling: ['no charts to pack'],
  },
  {
    ...createGoTool('github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0'),
    slug: 'golangci-lint-ineffectual',
    tool: 'golangci-lint',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      '.golangci.yml': 'version: "2"\nlinters:\n  default: none\n  enable: [ineffassign, errcheck]\n',
      'go.mod': goMod,
      'main.go':
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\tlevel := 3\n\tlevel = 4\n\tos.Remove("tides.lock")\n\tfmt.Println(level)\n}\n',
    },
    green: {
      'main.go': 'package main\n\nimport "fmt"\n\nfunc main() {\n\tlevel := 4\n\tfmt.Println(level)\n}\n',
    },
    run: 'golangci-lint run --timeout 10m',
    exitCode: 1,
    telling: ['Error return value of `os.Remove` is not checked', 'ineffectual assignment to level'],
  },
  {
    ...createGoTool('github.com/onsi/ginkgo/v2/ginkgo@v2.34.0'),
    slug: 'ginkgo-expected-to-equal',
    tool: 'ginkgo',
    heldOut: false,
    category: 'TEST_FAILURE',
    setup:
      'command -v ginkgo && go get github.com/onsi/ginkgo/v2@v2.34.0 github.com/onsi/gomega && go mod tidy',
    files: {
      'go.mod': goMod,
      'lock/lock.go':
        'package lock\n\n// Level is the height of the water after some minutes.\nfunc Level(minutes int) int { return minutes / 4 }\n',
      'lock/lock_test.go':
        'package lock_test\n\nimport (\n\t"testing"\n\n\t. "github.com/onsi/ginkgo/v2"\n\t. "github.com/onsi/gomega"\n\n\t"harbor.example/tides/lock"\n)\n\nfunc TestLock(t *testing.T) {\n\tRegisterFailHandler(Fail)\n\tRunSpecs(t, "Lock Suite")\n}\n\nvar _ = Describe("the lock", func() {\n\tIt("is empty at first", func() { Expect(lock.Level(0)).To(Equal(0)) })\n\tContext("after half an hour", func() {\n\t\tIt("is full", func() { Expect(lock.Level(30)).To(Equal(8)) })\n\t})\n})\n',
    },
    run: 'ginkgo --no-color ./...',
    exitCode: 1,
    telling: [{ from: 'Expected', to: '<int>: 8' }],
  },
  {
    ...createGoTool('github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0'),
    slug: 'kubeconform-wrong-type',
    tool: 'kubeconform',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'schemas/gauge.json':
        '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["spec"],"properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"},"unit":{"enum":["meter","foot"]}}}}}\n',
      'deploy/gauge.yaml':
        'apiVersion: harbor.example/v1\nkind: Gauge\nmetadata:\n  name: north\nspec:\n  replicas: "two"\n  unit: meter\n',
    },
    green: { 'deploy/gauge.yaml': ['"two"', '2'] },
    run: "kubeconform -summary -schema-location 'schemas/{{ .ResourceKind }}.json' deploy",
    exitCode: 1,
    telling: ['deploy/gauge.yaml - Gauge north is invalid'],
  },
  {
    ...createGoTool('github.com/google/addlicense@v1.1.1'),
    slug: 'addlicense-check',
    tool: 'addlicense',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'src/tide.go': 'package src\n\n// High is the height of high water.\nconst High = 4\n',
      'src/gauge.go': '// Copyright Harbor Office\n// SPDX-License-Identifier: MIT\n\npackage src\n',
    },
    green: { 'src/tide.go': '// Copyright Harbor Office\n// SPDX-License-Identifier: MIT\n\npackage src\n' },
    run: 'addlicense -check src',
    exitCode: 1,
    telling: ['src/tide.go'],
  },
];
