package projectfile

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// followControllers has the project's controllers be beside those that are there, where the layout's folder has none.
func followControllers(p *plan.Plan, file *project.Project) error {
	all, err := p.Code().Controllers()
	layout := file.ControllerDir(project.Resource{})
	count := map[string]int{}
	most := ""
	for _, c := range all {
		if !c.Reconciles || c.Dir == "." {
			continue
		}
		if c.Dir == layout || path.Dir(c.Dir) == layout {
			return err
		}
		dir := folderOf(file, c.Dir)
		if count[dir]++; most == "" || count[dir] > count[most] {
			most = dir
		}
	}
	if most == "" {
		return err
	}
	for dir, n := range count {
		if dir != most && n == count[most] && path.Dir(dir) == path.Dir(most) && strings.Contains(most, "/") {
			most = path.Dir(most) // each of several has a folder of its own
			break
		}
	}
	file.ControllersIn(most)
	return err
}

// folderOf is the folder of controllers that a package of some is in: a group or a kind may have a folder in it.
func folderOf(file *project.Project, dir string) string {
	for _, r := range file.Resources {
		if base := path.Base(dir); path.Dir(dir) != "." && (base == r.Group || base == r.SingularName()) {
			return path.Dir(dir)
		}
	}
	return dir
}
