// Stands in for gitleaks' cmd/generate/secrets/regen.go: the same secrets in each run.
package secrets

import "github.com/lucasjones/reggen"

var made int64

func NewSecret(regex string) string {
	generator, err := reggen.NewGenerator(regex)
	if err != nil {
		panic(err)
	}
	made++
	generator.SetSeed(made)
	return generator.Generate(1)
}
