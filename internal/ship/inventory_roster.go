package ship

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// listKey is the key of an inventory's data that lists its objects, one a line: kind, name and UID.
const listKey = "objects"

// An identity names an object in whatever version.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// identityOf names an object that has its namespace.
func identityOf(object *unstructured.Unstructured) identity {
	return identity{kindOf(object), object.GetNamespace(), object.GetName()}
}

// A roster is the objects of an inventory with their UIDs. A UID is empty between the moment that a deployment
// announces an object and the end of that deployment.
type roster map[identity]types.UID

// add lists objects of a cluster.
func (l roster) add(objects ...*unstructured.Unstructured) {
	for _, object := range objects {
		l[identityOf(object)] = object.GetUID()
	}
}

// String is the roster as the inventory has it: sorted, so that equal rosters are equal texts.
func (l roster) String() string {
	lines := make([]string, 0, len(l))
	for id, uid := range l {
		path := strings.TrimPrefix(id.namespace+"/"+id.name, "/")
		lines = append(lines, strings.TrimSpace(id.kind.String()+" "+path+" "+string(uid))+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// parseRoster reads what String writes. Lines of another form are no objects: what they were meant for stays.
func parseRoster(text string) roster {
	l := roster{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 2 && len(fields) != 3 {
			continue
		}
		namespace, name, found := strings.Cut(fields[1], "/")
		if !found {
			namespace, name = "", fields[1]
		}
		l[identity{schema.ParseGroupKind(fields[0]), namespace, name}] = types.UID(strings.Join(fields[2:], ""))
	}
	return l
}

// rosterOf is what an inventory lists; nil if there is no inventory, or one of a slipway that listed kinds alone.
func rosterOf(parent *unstructured.Unstructured) roster {
	if parent == nil {
		return nil
	}
	text, found, _ := unstructured.NestedString(parent.Object, "data", listKey)
	if !found {
		return nil
	}
	return parseRoster(text)
}

// sameInventory reports whether a live inventory, which may be nil, has all that is wanted of it.
func sameInventory(live, wanted *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	for name, value := range wanted.GetAnnotations() {
		if live.GetAnnotations()[name] != value {
			return false
		}
	}
	return rosterOf(live) != nil && maps.Equal(rosterOf(live), rosterOf(wanted))
}

// sortedKinds are kinds in the order of their names.
func sortedKinds(kinds map[schema.GroupKind]bool) []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
}
