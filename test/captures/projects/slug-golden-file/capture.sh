step 'Dependencies' 'go mod download
go mod verify'
step 'Test' 'go test -v -count=1 ./...'
