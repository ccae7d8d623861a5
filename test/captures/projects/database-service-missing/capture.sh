step 'Install' 'npm ci'
isolate
STEP_ENV=(DATABASE_URL=postgres://ci:ci@localhost:5432/loans)
step 'Test' 'npm test'
