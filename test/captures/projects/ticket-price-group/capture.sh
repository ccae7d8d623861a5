step 'Test' 'phpunit --verbose tests'
