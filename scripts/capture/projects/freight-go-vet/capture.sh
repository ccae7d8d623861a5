step 'Vet' 'go vet ./...'
