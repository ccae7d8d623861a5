step 'Install' 'npm ci'
step 'Compile' 'npx tsc --project .'
