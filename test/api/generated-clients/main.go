// Command ask uses the client that oapi-codegen makes of the API's description: ask ADDRESS TOKEN BUILD.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"example.test/client/faultline"
)

func main() {
	ctx := context.Background()
	client, err := faultline.NewClientWithResponses(os.Args[1], faultline.WithRequestEditorFn(withToken(os.Args[2])))
	check(err)
	found, err := client.ListBuildAnalysesWithResponse(ctx, os.Args[3], &faultline.ListBuildAnalysesParams{})
	check(err)
	stranger, err := faultline.NewClientWithResponses(os.Args[1], faultline.WithRequestEditorFn(withToken("another")))
	check(err)
	refused, err := stranger.ListBuildsWithResponse(ctx, &faultline.ListBuildsParams{})
	check(err)
	answer := found.JSON200.Analyses[0]
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"category": *answer.Category,
		"title":    answer.Answer.Title,
		"refused":  refused.JSON401.Error.Code,
	}))
}

func withToken(token string) faultline.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
