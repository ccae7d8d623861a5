package slug

import (
	"os"
	"strings"
	"testing"
)

func TestGoldenTitles(t *testing.T) {
	golden, err := os.ReadFile("testdata/titles.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range strings.Split(strings.TrimSpace(string(golden)), "\n") {
		title, want, _ := strings.Cut(row, "\t")
		t.Run(want, func(t *testing.T) {
			if got := Make(title); got != want {
				t.Errorf("Make(%q)\n got: %s\nwant: %s", title, got, want)
			}
		})
	}
}

func TestEmptyTitle(t *testing.T) {
	if got := Make("  ?! "); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}
