package ledger

import "fmt"

// Account keeps a balance in cents.
type Account struct {
	Name    string
	balance int64
}

func (a *Account) Post(cents int64) {
	a.balance += cents
}

func (a *Account) BalanceCents() int64 {
	return a.balance
}

func (a *Account) String() string {
	return fmt.Sprintf("%s: %d.%02d", a.Name, a.balance/100, a.balance%100)
}
