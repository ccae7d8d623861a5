import {
  assertion,
  compileError,
  type MixedBuild,
  missingFile,
  missingSetting,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';

const writeModule = (name: string) => `module example.test/${name}\n\ngo 1.22\n`;

/** Suites of Go's own test command, and of gotestsum. */
export const builds: readonly MixedBuild[] = [
  {
    version: 'go version',
    id: 'go-quarry',
    runner: 'go test',
    project: 'quarry',
    files: {
      'go.mod': writeModule('quarry'),
      'stone/stone.go': `package stone

import (
	"errors"
	"net"
	"os"
	"time"
)

// Tons counts whole wagons.
func Tons(wagons int) int { return wagons * 22 }

// Survey reads the depth of each shaft.
func Survey() ([]byte, error) { return os.ReadFile("testdata/survey.txt") }

// Blast waits until the pit is empty.
func Blast(empty chan struct{}) error {
	select {
	case <-empty:
		return nil
	case <-time.After(80 * time.Millisecond):
		return errors.New("gave up waiting for the pit to be empty")
	}
}

// Crane asks the crane where it stands.
func Crane() error {
	connection, err := net.Dial("tcp", "127.0.0.1:5020")
	if err != nil {
		return err
	}
	return connection.Close()
}
`,
      'stone/stone_test.go': `package stone

import "testing"

func TestTons(t *testing.T) {
	for _, one := range []struct {
		name   string
		wagons int
		want   int
	}{{"none", 0, 0}, {"two", 2, 44}, {"spare", 3, 60}} {
		t.Run(one.name, func(t *testing.T) {
			if got := Tons(one.wagons); got != one.want {
				t.Errorf("Tons(%d) = %d, want %d", one.wagons, got, one.want)
			}
		})
	}
}

func TestSurvey(t *testing.T) {
	if _, err := Survey(); err != nil {
		t.Fatal(err)
	}
}

func TestBlast(t *testing.T) {
	if err := Blast(make(chan struct{})); err != nil {
		t.Fatalf("blast: %v", err)
	}
}

func TestCrane(t *testing.T) {
	if err := Crane(); err != nil {
		t.Fatalf("crane: %v", err)
	}
}
`,
      'shift/shift.go': `package shift

// Worker has a foreman, or none.
type Worker struct {
	Name    string
	Foreman *Worker
}

// Boss names who gives the orders.
func Boss(w *Worker) string { return w.Foreman.Name }
`,
      'shift/shift_test.go': `package shift

import "testing"

func TestBossOfApprentice(t *testing.T) {
	if got := Boss(&Worker{Name: "Ada", Foreman: &Worker{Name: "Max"}}); got != "Max" {
		t.Errorf("got %q", got)
	}
}

func TestBossOfForeman(t *testing.T) {
	if got := Boss(&Worker{Name: "Max"}); got != "" {
		t.Errorf("got %q, want no boss", got)
	}
}
`,
      'rail/rail.go': 'package rail\n\n// Gauge is in millimeters.\nfunc Gauge() int { return 750 }\n',
      'rail/rail_test.go': `package rail

import "testing"

func TestGauge(t *testing.T) {
	if Gauge() != 750 {
		t.Fatal("wrong gauge")
	}
	if Switches() != 4 {
		t.Fatal("wrong number of switches")
	}
}
`,
    },
    run: 'go test ./...',
    tally: [
      'FAIL	example.test/quarry/stone',
      'FAIL	example.test/quarry/shift',
      'FAIL	example.test/quarry/rail [build failed]',
    ],
    failures: [
      {
        ...assertion,
        test: 'TestTons/spare',
        suite: 'example.test/quarry/stone',
        at: '--- FAIL: TestTons/spare',
        message: 'Tons(3) = 66, want 60',
        cause: 'spare-wagon',
      },
      {
        ...missingFile,
        test: 'TestSurvey',
        suite: 'example.test/quarry/stone',
        at: '--- FAIL: TestSurvey',
        message: 'open testdata/survey.txt: no such file or directory',
        cause: 'survey-file',
      },
      {
        ...testTimeout,
        test: 'TestBlast',
        suite: 'example.test/quarry/stone',
        at: '--- FAIL: TestBlast',
        message: 'blast: gave up waiting for the pit to be empty',
        cause: 'pit-not-empty',
      },
      {
        ...refused,
        test: 'TestCrane',
        suite: 'example.test/quarry/stone',
        at: '--- FAIL: TestCrane',
        message: 'crane: dial tcp 127.0.0.1:5020: connect: connection refused',
        cause: 'no-crane',
      },
      {
        ...nullReference,
        test: 'TestBossOfForeman',
        suite: 'example.test/quarry/shift',
        at: '--- FAIL: TestBossOfForeman',
        message: 'panic: runtime error: invalid memory address or nil pointer dereference',
        lines: ['shift/shift.go:10'],
        cause: 'no-foreman',
      },
      {
        ...compileError,
        suite: 'example.test/quarry/rail',
        message: 'rail/rail_test.go:9:5: undefined: Switches',
        cause: 'switches-undefined',
      },
    ],
  },
  {
    version: 'go version',
    id: 'go-canal-verbose',
    runner: 'go test',
    project: 'canal',
    files: {
      'go.mod': writeModule('canal'),
      'lock.go': `package canal

import (
	"fmt"
	"os"
)

// Store opens the log of passages.
func Store() (string, error) {
	url := os.Getenv("CANAL_STORE")
	if url == "" {
		return "", fmt.Errorf("CANAL_STORE is not set")
	}
	return url, nil
}

// Level is in centimeters.
func Level(gate int) int { return []int{180, 240, 310}[gate] }

// Toll is in cents.
func Toll(tons float64) int { return int(tons * 12) }
`,
      'lock_test.go': `package canal

import "testing"

func store(t *testing.T) string {
	t.Helper()
	url, err := Store()
	if err != nil {
		t.Fatalf("store: %v", err)
	}
	return url
}

func TestPassageIsKept(t *testing.T)    { t.Parallel(); store(t) }
func TestPassageIsCounted(t *testing.T) { t.Parallel(); store(t) }
func TestPassageIsBilled(t *testing.T)  { t.Parallel(); store(t) }

func TestToll(t *testing.T) {
	t.Parallel()
	t.Log("error: this line is only chatter")
	if got, want := Toll(10.5), 130; got != want {
		t.Errorf("toll: got %d, want %d", got, want)
	}
}

func TestLevel(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("level panicked: %v", r)
		}
	}()
	Level(3)
}
`,
    },
    run: 'go test -v ./...',
    tally: 'FAIL	example.test/canal',
    failures: [
      ...['TestPassageIsKept', 'TestPassageIsCounted', 'TestPassageIsBilled'].map((test) => ({
        ...missingSetting,
        test,
        at: `=== CONT  ${test}`,
        message: 'store: CANAL_STORE is not set',
        cause: 'canal-store',
      })),
      { ...assertion, test: 'TestToll', message: 'toll: got 126, want 130', cause: 'toll' },
      {
        ...thrown,
        test: 'TestLevel',
        message: 'level panicked: runtime error: index out of range [3] with length 3',
        cause: 'fourth-gate',
      },
    ],
  },
  {
    debian: ['gotestsum'],
    version: "dpkg -s gotestsum | sed -n 's/^Version: //p'",
    id: 'gotestsum-aviary-rerun',
    runner: 'gotestsum',
    project: 'aviary',
    files: {
      'go.mod': writeModule('aviary'),
      'aviary.go': `package aviary

import "strings"

// Call is what a bird says.
func Call(bird string) string { return map[string]string{"owl": "hoo", "crow": "caw"}[bird] }

// Loudest picks the first letter of a call.
func Loudest(bird string) byte { return strings.ToUpper(Call(bird))[0] }
`,
      'aviary_test.go': `package aviary

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNestIsQuiet(t *testing.T) {
	mark := filepath.Join(os.TempDir(), "nest-was-visited")
	if _, err := os.Stat(mark); err != nil {
		os.WriteFile(mark, nil, 0o600)
		t.Fatal("nest: the chicks are still awake")
	}
}

func TestOwl(t *testing.T) {
	if got := Call("owl"); got != "hoot" {
		t.Errorf("owl says %q, want %q", got, "hoot")
	}
}

func TestParrot(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("parrot: %v", r)
		}
	}()
	Loudest("parrot")
}
`,
    },
    run: 'gotestsum --format testname --rerun-fails=2 --packages=./... --junitfile report.xml',
    report: 'report.xml',
    tally: 'DONE 3 runs',
    passedOnRetry: ['TestNestIsQuiet'],
    failures: [
      {
        ...assertion,
        test: 'TestOwl',
        suite: 'example.test/aviary',
        message: 'owl says "hoo", want "hoot"',
        cause: 'owl',
      },
      {
        ...thrown,
        test: 'TestParrot',
        suite: 'example.test/aviary',
        message: 'parrot: runtime error: index out of range [0] with length 0',
        cause: 'parrot',
      },
    ],
  },
];
