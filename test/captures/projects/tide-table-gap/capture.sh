step 'Test' 'prove -r t'
