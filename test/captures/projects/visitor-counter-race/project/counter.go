package visitors

// Counter counts visitors per gate. The doors of all gates report at the same time.
type Counter struct {
	total  int
	byGate map[string]int
}

func NewCounter() *Counter {
	return &Counter{byGate: map[string]int{}}
}

func (c *Counter) Enter(gate string, people int) {
	c.total += people
	if people > 10 {
		c.byGate[gate] += people
	}
}

func (c *Counter) Total() int {
	return c.total
}
