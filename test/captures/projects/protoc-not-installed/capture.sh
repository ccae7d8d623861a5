step 'Show versions' 'python3 --version
make --version | head -n 1'
step 'Generate messages' './scripts/generate.sh'
