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
		for _, known := range knownVerbs {
			if spelling.Distance(strings.TrimSpace(verb), known, 2) <= 2 {
				return fmt.Errorf("there is no verb %q; did you mean %s?", verb, known)
			}
		}
		return fmt.Errorf("there is no verb %q; known are %s", verb, strings.Join(knownVerbs, ", "))
	}
	return nil
}
