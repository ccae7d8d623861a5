// Stands in for gitleaks' cmd/generate/config/utils/validate.go: prints each rule with its samples, one JSON object a line, where gitleaks checks them.
package utils

import (
	"encoding/json"
	"os"
	"sort"
	"strings"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/base"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

type sample struct {
	Text    string   `json:"text"`
	Secrets []string `json:"secrets"`
}

type printed struct {
	ID       string   `json:"id"`
	Pattern  string   `json:"pattern"`
	Keywords []string `json:"keywords"`
	Secret   []sample `json:"secret"`
	Harmless []string `json:"harmless"`
}

var out = json.NewEncoder(os.Stdout)

func Validate(rule config.Rule, secret []string, harmless []string) *config.Rule {
	fragments := []detect.Fragment{}
	for _, text := range secret {
		fragments = append(fragments, detect.Fragment{Raw: text})
	}
	return write(rule, fragments, harmless)
}

func ValidateWithPaths(rule config.Rule, secret map[string]string, harmless map[string]string) *config.Rule {
	fragments, texts := []detect.Fragment{}, []string{}
	for path, text := range secret {
		fragments = append(fragments, detect.Fragment{Raw: text, FilePath: path})
	}
	for _, text := range harmless {
		texts = append(texts, text)
	}
	return write(rule, fragments, texts)
}

func write(rule config.Rule, fragments []detect.Fragment, harmless []string) *config.Rule {
	detector := detectorOf(rule)
	p := printed{ID: rule.RuleID, Keywords: rule.Keywords, Secret: []sample{}, Harmless: harmless}
	if rule.Regex != nil {
		p.Pattern = rule.Regex.String()
	}
	for _, fragment := range fragments {
		found := sample{Text: fragment.Raw}
		for _, finding := range detector.Detect(fragment) {
			found.Secrets = append(found.Secrets, finding.Secret)
		}
		if len(found.Secrets) > 0 {
			sort.Strings(found.Secrets)
			p.Secret = append(p.Secret, found)
		}
	}
	sort.Slice(p.Secret, func(a, b int) bool { return p.Secret[a].Text < p.Secret[b].Text })
	sort.Strings(p.Harmless)
	if err := out.Encode(p); err != nil {
		panic(err)
	}
	return &rule
}

func detectorOf(rule config.Rule) *detect.Detector {
	all := base.CreateGlobalConfig()
	all.Keywords = map[string]struct{}{}
	keywords := []string{}
	for _, keyword := range rule.Keywords {
		keywords = append(keywords, strings.ToLower(keyword))
		all.Keywords[strings.ToLower(keyword)] = struct{}{}
	}
	rule.Keywords = keywords
	all.Rules = map[string]config.Rule{rule.RuleID: rule}
	for _, allowlist := range all.Allowlists {
		if err := allowlist.Validate(); err != nil {
			panic(err)
		}
	}
	return detect.NewDetector(all)
}
