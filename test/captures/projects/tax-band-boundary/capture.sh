step 'Python' 'python3 --version'
step 'Test' 'python3 -m unittest discover -v'
