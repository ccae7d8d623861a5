isolate
upstream unauthorized
STEP_ENV=(PACKAGES_TOKEN=)
step 'Install' 'npm install'
