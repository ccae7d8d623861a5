package freight

import "fmt"

type Load struct {
	Tons float64
	From string
}

func (l Load) Describe() string {
	return fmt.Sprintf("%d t from %s", l.Tons, l.From)
}
