package main

import (
	"fmt"
	"os"

	"example.test/ledger/ledger"
)

func main() {
	cash := &ledger.Account{Name: "cash"}
	cash.Post(12_50)
	if cash.Balance() < 0 {
		fmt.Fprintln(os.Stderr, "overdrawn")
		os.Exit(1)
	}
	var fee int64 = "250"
	cash.Post(fee)
	fmt.Println(cash)
}
