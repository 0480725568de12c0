package ship

import (
	"context"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const unlistedRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: unseen}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: ["*"]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: ["*"]}
- {apiGroups: [""], resources: [secrets], verbs: [get, create, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: unseen}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: unseen}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: unseen}]
`

// limited is the cluster for a user who may do what unlistedRights say.
func limited(t *testing.T, c *Cluster) (*Cluster, *recorder) {
	t.Helper()
	if err := c.Apply(t.Context(), objects(t, unlistedRights), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	remove(t, c, unlistedRights)
	config, err := clientcmd.BuildConfigFromFlags("", running.session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: "unseen"}
	events := &recorder{}
	user, err := New(config, "default", events)
	if err != nil {
		t.Fatal(err)
	}
	return user, events
}

// TestUnseenKinds: what one user may not list stays in the inventory, so that another one's deployment finds it.
func TestUnseenKinds(t *testing.T) {
	c, events := connect(t)
	user, theirs := limited(t, c)
	const config, secret = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen}", "apiVersion: v1\nkind: Secret\nmetadata: {name: unseen}"
	set := &Set{Project: "unseen", Namespace: "default"}
	apply := func(c *Cluster, text string) {
		t.Helper()
		if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{Set: set}); err != nil {
			t.Fatal(err)
		}
	}
	apply(c, config+"\n---\n"+secret)
	apply(user, config)
	if len(theirs.lines) == 0 || !strings.Contains(theirs.lines[0], "may not list objects of kind Secret") {
		t.Errorf("the user is told %q", theirs.lines)
	}
	if err := user.Delete(t.Context(), objects(t, config), DeleteOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	if last := theirs.lines[len(theirs.lines)-1]; last != "kept configmap/default/slipway-unseen" {
		t.Errorf("the inventory: %s", last)
	}
	events.lines = nil
	if err := c.Apply(t.Context(), objects(t, config), ApplyOptions{Set: set, Consent: agree}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "created configmap/default/seen", "deleted secret/default/unseen", "updated configmap/default/slipway-unseen")
	if err := c.Delete(t.Context(), objects(t, config), DeleteOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "deleted configmap/default/seen", "deleted configmap/default/slipway-unseen")
}

// TestUnlistedObjects: objects that cannot be listed, as one may not, or as the operator that converts them does not
// run, keep their definition from going without a question, but not from going.
func TestUnlistedObjects(t *testing.T) {
	c, _ := connect(t)
	user, events := limited(t, c)
	crd := definition("unseen.example.com", "x")
	remove(t, c, crd)
	set := &Set{Project: "unlisted", Namespace: "default", DefinitionsOnly: true}
	if err := c.Apply(t.Context(), objects(t, crd), ApplyOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	differences, err := user.PreviewDelete(t.Context(), objects(t, crd), DeleteOptions{Set: set})
	if lines := words(differences); err != nil || !strings.Contains(strings.Join(lines, "\n"), "prompt comes first") {
		t.Errorf("preview: %q, %v", lines, err)
	}
	asked := ""
	yes := func(_ context.Context, question string) (bool, error) {
		asked = question
		return true, nil
	}
	if err := user.Delete(t.Context(), objects(t, crd), DeleteOptions{Set: set, Consent: yes}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "boats.unseen.example.com with objects that cannot be listed") {
		t.Errorf("asked %q", asked)
	}
	events.want(t, "deleted crd/boats.unseen.example.com")
}
