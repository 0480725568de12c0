package projectfile

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/project"
)

// controllerFolders are where projects have their controllers, by one layout or another, or by habit.
var controllerFolders = [...]string{"internal/controller", "controllers", "internal/controllers", "pkg/controller", "pkg/controllers"}

// followControllers has the project's controllers be in the folder that has some, where the layout's has none.
func followControllers(root string, file *project.Project) {
	if hasReconcilers(root, file.ControllerDir(project.Resource{})) {
		return
	}
	folders := controllerFolders[:]
	if versioned, err := filepath.Glob(filepath.Join(root, "pkg", "controller*.v*")); err == nil {
		for _, dir := range versioned {
			folders = append(folders, "pkg/"+filepath.Base(dir))
		}
	}
	for _, dir := range folders {
		if hasReconcilers(root, dir) {
			file.ControllersIn(dir)
			return
		}
	}
}

// hasReconcilers reports whether a file of a package, or of one in a folder of it, has a reconciler. What cannot be
// read has none.
func hasReconcilers(root, dir string) bool {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			return strings.Count(dir, "/") < 2 && hasReconcilers(root, name)
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return false
		}
		data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && gofile.HasReconciler(data)
	})
}
