step 'Version' 'go version'
step 'Vet' 'go vet ./ledger/...'
step 'Build' 'go build -v -o bin/ledger ./cmd/ledger'
