package visitors

import (
	"sync"
	"testing"
)

func TestEnterAddsUp(t *testing.T) {
	counter := NewCounter()
	counter.Enter("north", 3)
	counter.Enter("south", 4)
	if counter.Total() != 7 {
		t.Fatalf("total = %d, want 7", counter.Total())
	}
}

func TestGatesReportTogether(t *testing.T) {
	counter := NewCounter()
	var doors sync.WaitGroup
	for door := 0; door < 4; door++ {
		doors.Add(1)
		go func() {
			defer doors.Done()
			for i := 0; i < 50; i++ {
				counter.Enter("north", 1)
			}
		}()
	}
	doors.Wait()
}
