step 'Dependencies' 'go mod download -x 2>&1 | grep -v "^mkdir" || true
go mod verify'
step 'Test' 'go test -v -count=1 ./...'
