step 'Version' 'go version'
step 'Build' 'go mod download
go build ./...'
