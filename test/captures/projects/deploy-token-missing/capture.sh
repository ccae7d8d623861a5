step 'Check pages' 'for page in site/*.html; do
  grep -q "<title>" "$page" && echo "ok $page"
done'
step 'Bundle' 'tar -cvzf site.tar.gz site'
STEP_ENV=(SITE_ENVIRONMENT=staging DEPLOY_TOKEN=)
step 'Publish' './deploy/publish.sh'
