isolate
step 'Test' 'npm test'
step 'Smoke test against the provider' 'npm run smoke'
