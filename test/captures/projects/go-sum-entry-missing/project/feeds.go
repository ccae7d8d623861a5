package feeds

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
)

// Tag reads the language of a feed.
func Tag(value string) string {
	return language.Make(value).String()
}

// Plain drops the markup of a summary.
func Plain(summary string) string {
	var words []string
	tokens := html.NewTokenizer(strings.NewReader(summary))
	for tokens.Next() != html.ErrorToken {
		if token := tokens.Token(); token.Type == html.TextToken {
			words = append(words, strings.Fields(token.Data)...)
		}
	}
	return strings.Join(words, " ")
}
