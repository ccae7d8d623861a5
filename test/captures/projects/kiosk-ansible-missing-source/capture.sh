step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --quiet ansible-core==2.17.4'
STEP_ENV=(ANSIBLE_NOCOLOR=1 ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false)
step 'Deploy' '.venv/bin/ansible-playbook -i localhost, -c local site.yml'
