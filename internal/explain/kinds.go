package explain

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// kinds are the resources that a cluster serves.
type kinds []ship.Served

// named returns the resource that a user means. Of several with one name, it is the one that discovery has first, as
// for kubectl.
func (k kinds) named(text string) (ship.Served, bool) {
	name, group, grouped := strings.Cut(strings.ToLower(text), ".")
	for _, r := range k {
		if grouped && r.Group != group && !strings.HasPrefix(r.Group, group+".") {
			continue
		}
		if name == r.Resource || name == r.Singular || name == strings.ToLower(r.Kind) || slices.Contains(r.Short, name) {
			return r, true
		}
	}
	return ship.Served{}, false
}

// of returns the resource of a kind.
func (k kinds) of(kind schema.GroupKind) (ship.Served, bool) {
	at := slices.IndexFunc(k, func(r ship.Served) bool { return r.GroupKind() == kind })
	if at < 0 {
		return ship.Served{}, false
	}
	return k[at], true
}

// unknownKind is the error for a kind that the cluster does not serve, and for which it has no definition.
func (k kinds) unknownKind(text string) error {
	var names []string
	for _, r := range k {
		names = append(names, strings.ToLower(r.Kind), r.Resource)
	}
	e := &report.Error{Class: report.Refused, What: "the cluster has no such kind", Where: text, Hint: "neither does it have a CRD with that name", Next: "slipway kubectl api-resources"}
	if near := spelling.Nearest(strings.ToLower(text), names, 2); near != "" {
		e.Hint = fmt.Sprintf("did you mean %s?", near)
		e.Next = "slipway explain " + near
	}
	return e
}
