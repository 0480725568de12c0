package codebase

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/project"
)

// folders are where new controllers and webhooks of a project go, beside those that are there, if the layout's folders
// have none.
func folders(file *project.Project, controllers []Controller, webhooks []Webhook) (f project.Folders) {
	var dirs []string
	for _, c := range controllers {
		if c.Reconciles && c.Dir != "." {
			dirs = append(dirs, c.Dir)
		}
	}
	layout := file.ControllerDir(project.Resource{})
	if !slices.ContainsFunc(dirs, func(dir string) bool { return dir == layout || path.Dir(dir) == layout }) {
		f.Controllers = controllerFolder(file, dirs)
	}
	dirs = nil
	for _, w := range webhooks {
		dirs = append(dirs, path.Dir(w.File))
	}
	addWebhookFolder(&f, file, dirs)
	return f
}

// controllerFolder is the folder of most controllers: the one that their folders are in if several have as many.
func controllerFolder(file *project.Project, dirs []string) (most string) {
	count := map[string]int{}
	for _, dir := range dirs {
		dir = withoutKind(file, dir)
		if count[dir]++; most == "" || count[dir] > count[most] {
			most = dir
		}
	}
	for dir, n := range count {
		if dir != most && n == count[most] && path.Dir(dir) == path.Dir(most) && strings.Contains(most, "/") {
			return path.Dir(most) // each of several has a folder of its own
		}
	}
	return most
}

// withoutKind is the folder of controllers that a package of some is in: a group or a kind may have a folder in it.
func withoutKind(file *project.Project, dir string) string {
	for _, r := range file.Resources {
		if base := path.Base(dir); path.Dir(dir) != "." && (base == r.Group || base == r.SingularName()) {
			return path.Dir(dir)
		}
	}
	return dir
}

// addWebhookFolder adds the first folder of webhooks that is called so, and whether it has folders for versions and
// groups. It adds none if the layout's folders have some: beside their types, say.
func addWebhookFolder(f *project.Folders, file *project.Project, dirs []string) {
	for _, r := range file.Resources {
		if slices.Contains(dirs, file.WebhookDir(r)) {
			return
		}
	}
	for _, dir := range dirs {
		folder, one, ungrouped := dir, true, false
		for _, r := range file.Resources {
			if path.Base(folder) == r.Version {
				folder, one, ungrouped = path.Dir(folder), false, file.MultiGroup
			}
			if ungrouped && path.Base(folder) == r.Group {
				folder, ungrouped = path.Dir(folder), false
			}
		}
		if base := path.Base(folder); base == "webhook" || base == "webhooks" {
			f.Webhooks, f.OneWebhooks, f.UngroupedWebhooks = folder, one, ungrouped
			return
		}
	}
}
