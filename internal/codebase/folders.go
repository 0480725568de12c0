package codebase

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/project"
)

// folders returns where a project's new controllers and webhooks go if its existing ones are outside the layout's
// folders.
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

// controllerFolder returns the folder with the most controllers. If siblings share the maximum, it returns their
// parent.
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
			return path.Dir(most) // each controller has a folder of its own
		}
	}
	return most
}

// withoutKind returns the parent of a folder that is named after a group or a kind, else the folder itself.
func withoutKind(file *project.Project, dir string) string {
	for _, r := range file.Resources {
		if base := path.Base(dir); path.Dir(dir) != "." && (base == r.Group || base == r.SingularName()) {
			return path.Dir(dir)
		}
	}
	return dir
}

// addWebhookFolder sets the first folder named webhook or webhooks, and whether it has subfolders by version and group.
// It sets none if a webhook is in the layout's folder.
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
