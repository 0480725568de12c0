package ship

import (
	"strings"
	"testing"
)

// TestMissingNamespaces: all namespaces that the cluster and the objects lack are reported at once, before anything
// changes.
func TestMissingNamespaces(t *testing.T) {
	c, events := connect(t)
	in := func(namespace string) string {
		return strings.Replace(configMap("placed"), "namespace: default", "namespace: "+namespace, 1)
	}
	const brought = "apiVersion: v1\nkind: Namespace\nmetadata: {name: brought}"
	definition := definition("placed.example.com", "x")
	custom := strings.Replace(boat("placed.example.com", "{}"), "name: one", "name: one, namespace: sea", 1)
	text := strings.Join([]string{in("default"), in("brought"), brought, in("lacking"), strings.Replace(in("lacking"), "placed", "other", 1), definition, custom}, "\n---\n")
	o := ApplyOptions{Set: &Set{Project: "placed", Namespace: "parent"}}
	_, previewed := c.Preview(t.Context(), objects(t, text), o)
	for _, err := range []error{c.Apply(t.Context(), objects(t, text), o), previewed} {
		known := failure(t, err)
		const what, hint, next = "these namespaces do not exist: lacking, parent, sea", "configmap/lacking/placed, configmap/parent/slipway-placed, boat/sea/one", "slipway kubectl create namespace lacking && slipway kubectl create namespace parent && slipway kubectl create namespace sea"
		if known.What != what || !strings.Contains(known.Where, hint) || known.Next != next {
			t.Errorf("error is %+v", known)
		}
	}
	events.want(t)
	if at(t, c, in("default")) != nil || at(t, c, definition) != nil {
		t.Error("an object was made")
	}
}
