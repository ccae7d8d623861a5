step 'Versions' 'java -version
mvn --version'
step 'Verify' 'mvn --batch-mode verify'
