step 'Test' 'rspec --format documentation --order defined'
