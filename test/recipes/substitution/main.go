// Prepares pipelines as the CI systems do, with their own libraries. Reads and writes one JSON object a line.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/drone/envsubst"
	"gopkg.in/yaml.v3"
)

// Order is what is to be prepared: a pipeline of Woodpecker or Drone, or GitLab's variables where there is none.
type Order struct {
	Pipeline  string            `json:"pipeline"`
	Variables map[string]string `json:"variables"`
}

// Step is a step of a pipeline, as Woodpecker and Drone call its parts.
type Step struct {
	Name        string         `yaml:"name" json:"name"`
	Commands    []string       `yaml:"commands" json:"commands"`
	Environment map[string]any `yaml:"environment" json:"environment"`
}

func main() {
	input, output := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var order Order
		if err := input.Decode(&order); err == io.EOF {
			return
		} else if err != nil {
			fail(err)
		}
		if order.Pipeline == "" {
			output.Encode(map[string]any{"variables": expand(order.Variables)})
			continue
		}
		steps, err := prepare(order.Pipeline, order.Variables)
		if err != nil {
			output.Encode(map[string]any{"refused": err.Error()})
			continue
		}
		output.Encode(map[string]any{"steps": steps})
	}
}

// prepare replaces and parses, in this order: EnvVarSubst of woodpecker-ci/woodpecker (pipeline/frontend/metadata/substitution.go), and
// Runner.Run of drone/runner-go (pipeline/runtime/runner.go), which quote a value in the same way.
func prepare(pipeline string, variables map[string]string) ([]Step, error) {
	text, err := envsubst.Eval(pipeline, func(name string) string {
		value := variables[name]
		if strings.Contains(value, "\n") {
			value = fmt.Sprintf("%q", value)
		}
		return value
	})
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Steps []Step `yaml:"steps"`
	}
	return parsed.Steps, yaml.Unmarshal([]byte(text), &parsed)
}

// expand replaces the names of variables in their values: JobVariables.Expand of gitlab-org/gitlab-runner (common/variables.go). GitLab marks no
// variable of its own as raw (lib/gitlab/ci/variables/builder/pipeline.rb).
func expand(variables map[string]string) map[string]string {
	expanded := map[string]string{}
	for name, value := range variables {
		expanded[name] = os.Expand(value, func(other string) string { return variables[other] })
	}
	return expanded
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
