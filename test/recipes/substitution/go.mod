module faultline.test/substitution

go 1.23

require (
	github.com/drone/envsubst v1.0.3
	gopkg.in/yaml.v3 v3.0.1
)
