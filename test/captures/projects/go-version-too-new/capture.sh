step 'Version' 'go version
go env GOTOOLCHAIN'
step 'Build' 'go build ./...'
