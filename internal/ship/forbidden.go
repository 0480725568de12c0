package ship

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// forbidden matches what the API server says to those who may not; the last part is
// absent for the core group's and for namespaced requests.
var forbidden = lazy.Regexp(`cannot ([a-z]+) resource \\?"([a-z/]+)\\?" in API group \\?"([a-z0-9.-]*)\\?"`)

// missingMarkers returns the RBAC markers that would allow what lines of a log say
// was forbidden, each once.
func missingMarkers(log []string) []string {
	verbs := map[[2]string][]string{} // by group and resource
	var order [][2]string
	for _, line := range log {
		for _, match := range forbidden().FindAllStringSubmatch(line, -1) {
			what := [2]string{match[3], match[2]}
			if _, known := verbs[what]; !known {
				order = append(order, what)
			}
			if !slices.Contains(verbs[what], match[1]) {
				verbs[what] = append(verbs[what], match[1])
			}
		}
	}
	var markers []string
	for _, what := range order {
		markers = append(markers, rbacMarker(what[0], what[1], verbs[what]))
	}
	return markers
}

// rbacMarker is the marker that allows verbs. Who may list for a cache has to
// watch as well, and asks for that only later.
func rbacMarker(group, resource string, verbs []string) string {
	if slices.Contains(verbs, "list") || slices.Contains(verbs, "watch") {
		verbs = append(slices.DeleteFunc(slices.Clone(verbs), isReading), "get", "list", "watch")
	}
	if group == "" {
		group = `""`
	}
	joined := ""
	for i, verb := range verbs {
		if i > 0 {
			joined += ";"
		}
		joined += verb
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, resource, joined)
}

// isReading tells the verbs that come together.
func isReading(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }
