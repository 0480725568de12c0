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
	for _, dir := range append(controllerFolders[:], versionedFolders(root)...) {
		if hasReconcilers(root, dir) {
			file.ControllersIn(dir)
			return
		}
	}
}

// versionedFolders are those that have the version of their kinds in their names, such as pkg/controller.v1.
func versionedFolders(root string) (folders []string) {
	entries, err := os.ReadDir(filepath.Join(root, "pkg"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "controller") && strings.Contains(e.Name(), ".v") {
			folders = append(folders, path.Join("pkg", e.Name()))
		}
	}
	return folders
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
