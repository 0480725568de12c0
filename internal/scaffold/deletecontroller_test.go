package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestDeleteController: one more controller of a kind goes without a trace, and the kind stays; also where
// the controllers are all that the project has of the kind.
func TestDeleteController(t *testing.T) {
	t.Parallel()
	deployments := API{Group: "apps", Version: "v1", Kind: "Deployment", Controller: true, Namespaced: true}
	for name, first := range map[string]API{"own": cronJob(), "core": deployments} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, Project{})
			empty := tree(t, root)
			apply(t)(CreateAPI(fileview.Disk(root), first))
			before := tree(t, root)
			more := first
			more.Resource, more.ControllerName = false, "nightly-report"
			d := deletionOf(first)
			d.ControllerName = more.ControllerName

			apply(t)(CreateAPI(fileview.Disk(root), more))
			if diff := treeDiff(before, tree(t, root)); diff == "" {
				t.Fatal("nothing was created")
			}
			apply(t)(DeleteAPI(fileview.Disk(root), d))
			if diff := treeDiff(before, tree(t, root)); diff != "" {
				t.Errorf("the controller left a trace: %s", diff)
			}

			again, err := DeleteAPI(fileview.Disk(root), d)
			must(t, err)
			if !again.Empty() || !strings.Contains(again.Because(), "has no additional controller nightly-report") {
				t.Errorf("deleting twice: %q, changes %v", again.Because(), again.Changes())
			}

			apply(t)(CreateAPI(fileview.Disk(root), more))
			apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(first)))
			if diff := treeDiff(empty, tree(t, root)); diff != "" {
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
	apply(t)(CreateAPI(fileview.Disk(root), only))
	d := deletionOf(only)
	d.ControllerName = only.ControllerName
	apply(t)(DeleteAPI(fileview.Disk(root), d))
	if diff := treeDiff(empty, tree(t, root)); diff != "" {
		t.Errorf("it left a trace: %s", diff)
	}
}

// TestDeleteKeptLater: what a deletion kept because it was changed goes the second time, when that is said.
func TestDeleteKeptLater(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	without := tree(t, root)
	d := deletionOf(cronJob())
	check := func(kept string, remove func(Deletion) (*Plan, error)) {
		t.Helper()
		name := filepath.Join(root, filepath.FromSlash(kept))
		text, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(name, append(text, "\n// Mine.\n"...), 0o644))
		apply(t)(remove(d))
		if _, err := os.Stat(name); err != nil {
			t.Fatalf("%s was not kept", kept)
		}
		all := d
		all.WithChanges = true
		apply(t)(remove(all))
		if diff := treeDiff(without, tree(t, root)); diff != "" {
			t.Errorf("%s left a trace: %s", kept, diff)
		}
	}

	more := cronJob()
	more.Resource, more.ControllerName = false, "nightly-report"
	apply(t)(CreateAPI(fileview.Disk(root), more))
	check("internal/controller/nightly_report_controller_test.go", func(d Deletion) (*Plan, error) {
		d.ControllerName = more.ControllerName
		return DeleteAPI(fileview.Disk(root), d)
	})

	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: d.Group, Version: d.Version, Kind: d.Kind, Defaulting: true}))
	check("internal/webhook/v1/cronjob_admission_test.go", func(d Deletion) (*Plan, error) {
		return DeleteWebhook(fileview.Disk(root), WebhookDeletion{Options: d})
	})
}
