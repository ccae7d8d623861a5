package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/yannh/kubeconform/pkg/validator"
	"sigs.k8s.io/yaml"
)

type tree = map[string]any

// Writes one JSON schema a kind: those of Kubernetes' OpenAPI description, and those of KEDA's custom resources. A field that a schema does
// not name is an error.
func writeSchemas(kubernetes, keda, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := writeKubernetesSchemas(kubernetes, folder); err != nil {
		return err
	}
	return writeKedaSchemas(keda, folder)
}

// Each kind gets a file that refers to the file of all definitions.
func writeKubernetesSchemas(module, folder string) error {
	var description struct {
		Definitions map[string]tree `json:"definitions"`
	}
	if err := readYaml(filepath.Join(module, "api/openapi-spec/swagger.json"), &description); err != nil {
		return err
	}
	for name, definition := range description.Definitions {
		refuseOthers(definition)
		switch name {
		case "io.k8s.apimachinery.pkg.util.intstr.IntOrString", "io.k8s.apimachinery.pkg.api.resource.Quantity":
			// The description calls them strings; the server reads numbers too.
			definition["type"] = []string{"string", "number"}
		}
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		for _, entry := range kinds {
			kind := entry.(tree)
			reference := tree{"$ref": "definitions.json#/definitions/" + name}
			if err := writeJson(fileOfKind(folder, kind["group"].(string), kind["version"].(string), kind["kind"].(string)), reference); err != nil {
				return err
			}
		}
	}
	return writeJson(filepath.Join(folder, "definitions.json"), description)
}

func writeKedaSchemas(module, folder string) error {
	files, err := filepath.Glob(filepath.Join(module, "config/crd/bases/keda.sh_*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("%s has no custom resources", module))
	}
	for _, file := range files {
		var resource struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema tree `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := readYaml(file, &resource); err != nil {
			return err
		}
		for _, version := range resource.Spec.Versions {
			schema := version.Schema.OpenAPIV3Schema
			refuseOthers(schema)
			if err := writeJson(fileOfKind(folder, resource.Spec.Group, version.Name, resource.Spec.Names.Kind), schema); err != nil {
				return err
			}
		}
	}
	return nil
}

// Refuses fields without a schema, in every object whose fields are listed. The metadata of a custom resource are listed elsewhere.
func refuseOthers(value any) {
	switch node := value.(type) {
	case tree:
		if _, listed := node["properties"]; listed && node["additionalProperties"] == nil && node["x-kubernetes-preserve-unknown-fields"] == nil {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			refuseOthers(child)
		}
	case []any:
		for _, child := range node {
			refuseOthers(child)
		}
	}
}

// As kubeconform asks for it.
const kindTemplate = "{{ .ResourceKind }}{{ .KindSuffix }}.json"

func fileOfKind(folder, group, version, kind string) string {
	parts := []string{kind}
	if group != "" {
		parts = append(parts, strings.Split(group, ".")[0])
	}
	return filepath.Join(folder, strings.ToLower(strings.Join(append(parts, version), "-"))+".json")
}

// Returns the objects of a YAML stream, or an error that names each object and what its schema refuses.
func checkObjects(stream, schemas string) ([]tree, error) {
	check, err := validator.New([]string{filepath.Join(schemas, kindTemplate)}, validator.Opts{Strict: true})
	if err != nil {
		return nil, err
	}
	objects := []tree{}
	problems := []error{}
	for _, result := range check.Validate("rendered", io.NopCloser(strings.NewReader(stream))) {
		if result.Status == validator.Empty {
			continue
		}
		var object tree
		if err := yaml.Unmarshal(result.Resource.Bytes, &object); err != nil {
			return nil, err
		}
		if result.Status != validator.Valid {
			metadata, _ := object["metadata"].(tree)
			problems = append(problems, fmt.Errorf("%v %v: %w", object["kind"], metadata["name"], result.Err))
		}
		objects = append(objects, object)
	}
	return objects, errors.Join(problems...)
}

func readYaml(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

func writeJson(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
