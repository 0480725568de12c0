package feature

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/slipway-dev/slipway/internal/report"
)

// requireArguments refuses a manager whose container has no list of arguments where the feature adds one to it:
// kustomize would fail.
func (p *planner) requireArguments(f Feature) error {
	component, err := p.Find(p.component(f))
	if err != nil || !bytes.Contains(component.After(), []byte("/args/-")) {
		return err
	}
	file, object, err := p.manager()
	if err != nil || len(object.Spec.Template.Spec.Containers) == 0 {
		return err
	}
	manager := object.Spec.Template.Spec.Containers[object.managerIndex(OwnDeployment("").Container)]
	if !manager.Args.IsZero() {
		return nil
	}
	if elsewhere, err := p.argumentsElsewhere(file); err != nil || elsewhere {
		return err
	}
	return &report.Error{
		What: fmt.Sprintf("%s adds an argument to the manager, and its container has no list of them", f), Where: fmt.Sprintf("%s:%d", file, manager.Name.Line),
		Hint: "nothing was changed; add this to the container and run the command again:\nargs: []",
	}
}

// argumentsElsewhere reports whether another file beside the Deployment's has arguments: a patch may add the list.
func (p *planner) argumentsElsewhere(deployment string) (bool, error) {
	files, err := fs.Glob(os.DirFS(p.Root()), path.Dir(deployment)+"/*.yaml")
	if err != nil {
		return false, err
	}
	for _, name := range files {
		c, err := p.Find(name)
		if err != nil {
			return false, err
		}
		if name != deployment && bytes.Contains(c.After(), []byte("args")) {
			return true, nil
		}
	}
	return false, nil
}
