package clients

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/spelling"
)

// knownVerbs are the methods that a client can have.
var knownVerbs = []string{"create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply", "applyStatus"}

// verbs is the value of markers that list methods.
type verbs []string

// UnmarshalMarker reads the list. The generators pass over verbs that they do not know.
func (v *verbs) UnmarshalMarker(_, text string) error {
	*v = strings.Split(text, ",")
	for _, verb := range *v {
		if slices.Contains(knownVerbs, verb) {
			continue
		}
		near := slices.MinFunc(knownVerbs, func(a, b string) int { return distance(verb, a) - distance(verb, b) })
		if distance(verb, near) <= misspelt {
			return fmt.Errorf("unknown verb %q: did you mean %s?", verb, near)
		}
		return fmt.Errorf("unknown verb %q: known are %s", verb, strings.Join(knownVerbs, ", "))
	}
	return nil
}

// misspelt is how many letters of a verb may be wrong for it to be recognised.
const misspelt = 2

func distance(a, b string) int { return spelling.Distance(strings.TrimSpace(a), b, misspelt) }
