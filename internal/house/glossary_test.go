package house_test

import (
	"regexp"
	"strings"
	"testing"
)

// glossary is the page that settles one term for each thing.
const glossary = "docs/reference/glossary.md"

// rejected are synonyms that the glossary rejects, where no message can mean something else by them, with the term to
// use.
var rejected = map[string]string{
	"simulation node":  "simulated node",
	"fake node":        "simulated node",
	"bare node":        "plain node",
	"dangling":         "untagged",
	"container image":  "",
	"k8s":              "Kubernetes",
	"custom types":     "kinds",
	"scaffolder":       "slipway",
	"plugin folder":    "",
	"no-op controller": "",
}

// synonyms returns the rejected synonyms in a text.
func synonyms(text string) []string {
	var found []string
	lower := strings.ToLower(text)
	for word, term := range rejected {
		if term != "" && strings.Contains(lower, word) {
			found = append(found, word)
		}
	}
	return found
}

var term = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]*) \|$`)

func TestGlossary(t *testing.T) { _ = term; _ = glossary }
