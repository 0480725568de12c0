package scaffold

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestThroughALink: a project whose folder is reached by a symbolic link becomes the same as one that is not.
func TestThroughALink(t *testing.T) {
	use := "package controller\n\nimport v1 \"example.com/op/api/v1\"\n\nvar _ v1.CronJob\n"
	verbs := map[string]func(root string) (*Plan, error){
		"edit --multigroup": func(root string) (*Plan, error) { return EditProject(fileview.Disk(root), MultiGroup(true)) },
		"delete api":        func(root string) (*Plan, error) { return DeleteAPI(fileview.Disk(root), deletionOf(cronJob())) },
	}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			made := func() string {
				root := newProject(t, Project{})
				apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
				must(t, os.WriteFile(filepath.Join(root, "internal/controller/use.go"), []byte(use), 0o644))
				return root
			}
			direct, linked := made(), made()
			apply(t)(verb(direct))
			link := filepath.Join(t.TempDir(), "link")
			must(t, os.Symlink(linked, link))
			apply(t)(verb(link))
			if diff := treeDiff(tree(t, direct), tree(t, linked)); diff != "" {
				t.Errorf("(-direct +through the link):\n%s", diff)
			}
		})
	}
}
