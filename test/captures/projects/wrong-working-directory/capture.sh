step 'Layout' 'ls -R apps docs'
step 'Build' 'npm run build'
