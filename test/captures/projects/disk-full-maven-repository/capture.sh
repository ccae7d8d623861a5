mkdir -p "$JOB_HOME/.m2"
mount -t tmpfs -o size=9m,uid=1001,gid=1001 tmpfs "$JOB_HOME/.m2"
step 'Versions' 'java -version
df -h ~/.m2'
step 'Build' 'mvn --batch-mode -X package'
