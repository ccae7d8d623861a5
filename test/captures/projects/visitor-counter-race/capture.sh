step 'Test' 'go version
go test -race -count=1 -v ./...'
