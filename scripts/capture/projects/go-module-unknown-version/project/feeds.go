package feeds

import "golang.org/x/text/language"

// Tag reads the language of a feed.
func Tag(value string) string {
	return language.Make(value).String()
}
