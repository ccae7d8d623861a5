step 'Client' 'docker --version'
step 'Image' 'docker build --tag bike-rental:ci .'
