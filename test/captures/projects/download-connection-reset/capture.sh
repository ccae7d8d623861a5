isolate
upstream resetting
step 'Check' 'make check'
