package mutant

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

// Plain makes a package with one marker and little else: one that is right, for most
// seeds, while in the mutants of [New] something else is often wrong. The marker is at
// the second version of a kind, so that this version may be skipped.
func Plain(seed uint64, path string, definitions []oracle.Definition, focus oracle.Definition) Source {
	w := &writer{
		Rand:        rand.New(rand.NewPCG(seed, 5)),
		definitions: definitions,
		focus:       focus,
		source:      Source{Files: make(map[string]string)},
		path:        path,
	}
	w.line("// +groupName=example.com\npackage v1\n\n%s)\n%s)\n\n// +kubebuilder:storageversion", imports, used)
	w.plainKind("int")
	w.flush("v1/types.go")
	w.line("// +groupName=example.com")
	if focus.Target == "package" {
		w.put(focus, anyKind, "")
	}
	w.line("package v2\n\n%s)\n%s)\n", imports, used)
	w.line("type Spec struct {\n%s\n}\n", strings.Join(w.focused(), "\n"))
	if focus.Target == "type" && aboutKinds(focus.Name) {
		w.put(focus, structKind, "")
	}
	w.plainKind("Spec")
	w.flush("v2/types.go")
	w.source.Roots = []string{"v1", "v2"}
	return w.source
}

func (w *writer) plainKind(spec string) {
	w.line("type Kind struct {\n%s\n}", strings.Join([]string{
		"\tmetav1.TypeMeta `json:\",inline\"`",
		"\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`",
		fmt.Sprintf("\tSpec %s `json:\"spec,omitempty\"`", spec),
	}, "\n"))
}
