step 'Version' 'go version'
step 'Build' 'go mod download golang.org/x/text
go build ./...'
