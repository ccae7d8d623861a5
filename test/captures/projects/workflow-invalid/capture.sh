step 'Install actionlint' 'go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.1'
step 'Check workflows' '~/go/bin/actionlint -color .github/workflows/*.yml'
