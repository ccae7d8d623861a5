// Reads what is deployed on Kubernetes with the libraries behind `helm` and `kubectl`, and checks every object against the schemas of
// Kubernetes and KEDA. Prints JSON; prints what is wrong and ends with 1 if something is.
//
//	chart CHART SCHEMAS VALUES…     what `helm template` prints with these files of values, after `helm lint --strict`
//	kustomize FOLDER SCHEMAS        what `kubectl apply -k` applies
//	schemas KUBERNETES KEDA FOLDER  writes the schemas of the two modules into a folder
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	if len(os.Args) < 4 {
		fail(fmt.Errorf("usage: chart CHART SCHEMAS VALUES… | kustomize FOLDER SCHEMAS | schemas KUBERNETES KEDA FOLDER"))
	}
	first, second, rest := os.Args[2], os.Args[3], os.Args[4:]
	switch os.Args[1] {
	case "chart":
		rendered, err := renderChart(first, rest)
		fail(err)
		objects, err := checkObjects(rendered.manifest, second)
		fail(err)
		printJson(map[string]any{"objects": objects, "yaml": rendered.manifest, "notes": rendered.notes})
	case "kustomize":
		made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), first)
		fail(err)
		yaml, err := made.AsYaml()
		fail(err)
		objects, err := checkObjects(string(yaml), second)
		fail(err)
		printJson(map[string]any{"objects": objects})
	case "schemas":
		fail(writeSchemas(first, second, rest[0]))
	}
}

func printJson(value any) {
	text, err := json.Marshal(value)
	fail(err)
	fmt.Println(string(text))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
