package kind

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-dev/slipway/project"
)

// taken are the names that scaffolded functions use already.
var taken = []string{
	"client", "context", "ctrl", "ctx", "err", "metav1", "r", "reconciler", "req", "request", "runtime", "t", "testing",
	// in webhooks and their tests
	"added", "admission", "fmt", "newObj", "obj", "ok", "oldObj", "apierrors", "before", "d", "data", "field", "filepath", "log", "mistake", "mistakes", "now", "old",
	"os", "reflect", "schema", "slices", "stored", "strings", "v", "validator", "yaml",
}

// Variable is the name of a variable that holds an object: the kind with its first
// word in lower case.
func Variable(r project.Resource) string {
	runes := []rune(r.Kind)
	upper := 1
	for upper < len(runes) && unicode.IsUpper(runes[upper]) && (upper+1 == len(runes) || !unicode.IsLower(runes[upper+1])) {
		upper++
	}
	name := strings.ToLower(string(runes[:upper])) + string(runes[upper:])
	if token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains(taken, name) || name == r.ImportAlias() {
		return name + "Object"
	}
	return name
}
