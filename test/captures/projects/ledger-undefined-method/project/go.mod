module example.test/ledger

go 1.22
