package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
)

type rendered struct {
	manifest string
	notes    string
}

// Renders a chart, which is a folder or an archive, for the release `faultline` in the namespace `default`: first the hooks, then the rest.
func renderChart(path string, valueFiles []string) (rendered, error) {
	values := map[string]any{}
	for _, name := range valueFiles {
		file, err := os.Open(name)
		if err != nil {
			return rendered{}, err
		}
		more, err := loader.LoadValues(file)
		file.Close()
		if err != nil {
			return rendered{}, fmt.Errorf("%s: %w", name, err)
		}
		values = loader.MergeMaps(values, more)
	}
	if err := lintChart(path, values); err != nil {
		return rendered{}, err
	}
	loaded, err := loader.Load(path)
	if err != nil {
		return rendered{}, err
	}
	return installDry(loaded, values)
}

func lintChart(path string, values map[string]any) error {
	lint := action.NewLint()
	lint.Strict = true
	return errors.Join(lint.Run([]string{path}, values).Errors...)
}

func installDry(loaded *chart.Chart, values map[string]any) (rendered, error) {
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName = "faultline"
	install.Namespace = "default"
	found, err := install.Run(loaded, values)
	if err != nil {
		return rendered{}, err
	}
	made := found.(*release.Release)
	parts := []string{}
	for _, hook := range made.Hooks {
		parts = append(parts, fmt.Sprintf("---\n# Source: %s\n%s\n", hook.Path, strings.TrimSpace(hook.Manifest)))
	}
	return rendered{manifest: strings.Join(parts, "") + made.Manifest, notes: made.Info.Notes}, nil
}
