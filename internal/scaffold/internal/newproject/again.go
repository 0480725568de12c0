package newproject

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// again returns the project that the folder holds already if it is the one that o asks
// for: then what is missing of it is completed. It is nil in a folder without a project;
// any other project is refused.
func (o *Options) again(folder *fileview.Folder) (*project.Project, error) {
	_, err := os.Lstat(filepath.Join(folder.Root(), project.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuseProject(folder.Root())
	}
	file, err := projectfile.Load(folder)
	if err != nil {
		return nil, err
	}
	var made facts
	if ours, err := file.Plugin(project.PluginKey, &made); err != nil || !ours {
		return nil, errors.Join(err, refuseProject(folder.Root()))
	}
	if o.Name == "" {
		o.Name = file.Name
	}
	for _, c := range []struct{ flag, asked, has string }{
		{"--domain", o.Domain, file.Domain},
		{"--project-name", o.Name, file.Name},
		{"--repo", cmp.Or(o.Repo, file.Repo), file.Repo},
		{"--namespaced", fmt.Sprint(o.Namespaced || file.Namespaced), fmt.Sprint(file.Namespaced)},
		{"--multigroup", fmt.Sprint(o.MultiGroup || file.MultiGroup), fmt.Sprint(file.MultiGroup)},
	} {
		if c.asked != c.has {
			return nil, &report.Error{
				What: fmt.Sprintf("this folder already holds a project, which has %s %s, not %s", c.flag, c.has, c.asked), Where: filepath.Join(folder.Root(), project.FileName),
				Hint: "with the same flags, init adds what is missing; nothing was changed",
				Next: "slipway create api --group GROUP --version v1 --kind KIND",
			}
		}
	}
	return file, nil
}
