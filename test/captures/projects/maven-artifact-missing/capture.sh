step 'Versions' 'mvn --version'
step 'Compile' 'mvn --batch-mode compile'
