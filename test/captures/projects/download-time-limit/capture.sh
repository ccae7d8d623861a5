isolate
upstream crawling
step 'Fetch data' 'echo "time limit of this step: 15 seconds"
timeout --verbose 15 ./scripts/fetch-model.sh'
