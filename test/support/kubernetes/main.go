// Prints what `kubectl apply -k FOLDER` would apply, as JSON: the same library makes it, and Kubernetes' own types must know every field.
// Kinds of others (KEDA's) are only read.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, batch.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme} {
		fail(add(scheme))
	}
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Strict: true})
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), os.Args[1])
	fail(err)
	objects := []json.RawMessage{}
	for _, resource := range made.Resources() {
		text, err := resource.MarshalJSON()
		fail(err)
		if resource.GetGvk().Group != "keda.sh" {
			_, _, err = strict.Decode(text, nil, nil)
			fail(err)
		}
		objects = append(objects, text)
	}
	text, err := json.Marshal(objects)
	fail(err)
	fmt.Println(string(text))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
