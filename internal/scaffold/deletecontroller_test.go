package scaffold

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDeleteController: one more controller of a kind goes without a trace, and the kind stays; also where
// the controllers are all that the project has of the kind.
func TestDeleteController(t *testing.T) {
	deployments := API{Group: "apps", Version: "v1", Kind: "Deployment", Controller: true, Namespaced: true}
	for name, first := range map[string]API{"own": cronJob(), "core": deployments} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, Project{})
			empty := tree(t, root)
			apply(t)(CreateAPI(root, first))
			before := tree(t, root)
			more := first
			more.Resource, more.ControllerName = false, "nightly-report"
			d := deletionOf(first)
			d.ControllerName = more.ControllerName

			apply(t)(CreateAPI(root, more))
			if diff := cmp.Diff(before, tree(t, root)); diff == "" {
				t.Fatal("nothing was created")
			}
			apply(t)(DeleteAPI(root, d))
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("the controller left a trace: %s", diff)
			}

			again, err := DeleteAPI(root, d)
			must(t, err)
			if !again.Empty() || !strings.Contains(again.Because(), "has no controller nightly-report") {
				t.Errorf("deleting twice: %q, changes %v", again.Because(), again.Changes())
			}

			apply(t)(CreateAPI(root, more))
			apply(t)(DeleteAPI(root, deletionOf(first)))
			if diff := cmp.Diff(empty, tree(t, root)); diff != "" {
				t.Errorf("the kind left a trace: %s", diff)
			}
		})
	}
}

// TestDeleteControllerAlone: with its only controller a kind of others goes from PROJECT.
func TestDeleteControllerAlone(t *testing.T) {
	root := newProject(t, Project{})
	empty := tree(t, root)
	only := API{Group: "apps", Version: "v1", Kind: "Deployment", Controller: true, Namespaced: true, ControllerName: "restarter"}
	apply(t)(CreateAPI(root, only))
	d := deletionOf(only)
	d.ControllerName = only.ControllerName
	apply(t)(DeleteAPI(root, d))
	if diff := cmp.Diff(empty, tree(t, root)); diff != "" {
		t.Errorf("it left a trace: %s", diff)
	}
}
