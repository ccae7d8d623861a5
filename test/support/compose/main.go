// Prints a compose file as `docker compose config` understands it: the same library, without a Docker engine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithProfiles([]string{"*"}))
	if err != nil {
		fail(err)
	}
	project, err := cli.ProjectFromOptions(context.Background(), options)
	if err != nil {
		fail(err)
	}
	text, err := json.Marshal(project)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
