step 'Memory' 'node --version'
STEP_ENV=(NODE_OPTIONS=--max-old-space-size=160)
step 'Build index' 'npm run build'
