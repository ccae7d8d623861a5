step 'Validate' 'terraform init -backend=false -no-color
terraform validate -no-color'
