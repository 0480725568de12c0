package feature

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/report"
)

// metricsService is the Service of the metrics, by slipway and by kubebuilder.
const metricsService = "controller-manager-metrics-service"

// refuseOtherMetrics refuses a project whose Service for metrics another tool made, which has the same name.
func (p *planner) refuseOtherMetrics() error {
	if p.Recording() {
		return nil
	}
	found, err := fs.Glob(os.DirFS(p.Root()), path.Dir(defaultConfig)+"/*metrics_service.yaml")
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &report.Error{
			What: "the project already has a Service for metrics", Where: found[0],
			Hint: "nothing was changed; metrics are on if " + defaultConfig + " lists " + path.Base(found[0]) + " and the patch with the manager's argument",
		}
	}
	for _, folder := range []string{"config/rbac", path.Dir(managerFile)} {
		if err := p.refuseServiceIn(folder); err != nil {
			return err
		}
	}
	return nil
}

// refuseServiceIn refuses a folder whose kustomization lists a file with a Service of that name.
func (p *planner) refuseServiceIn(folder string) error {
	list := folder + "/kustomization.yaml"
	c, err := p.Find(list)
	if err != nil || !c.There() {
		return err
	}
	var kustomization struct{ Resources []string }
	if yaml.Unmarshal(c.After(), &kustomization) != nil {
		return nil // kustomize reports it
	}
	for _, name := range kustomization.Resources {
		if strings.Contains(name, "/") || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) {
			continue
		}
		c, err := p.Find(path.Join(folder, name))
		if err != nil {
			return err
		}
		line := serviceLine(c.After(), metricsService)
		if line == 0 {
			continue
		}
		return &report.Error{
			What: "the project already has a Service for metrics", Where: fmt.Sprintf("%s/%s:%d", folder, name, line),
			Hint: fmt.Sprintf("nothing was changed; metrics are on with that Service. For slipway's Service, remove %s from the resources of %s, "+
				"with what else serves the metrics there, and run the command again", name, list),
		}
	}
	return nil
}

// serviceLine is the line with a Service's name in a file, or 0.
func serviceLine(src []byte, name string) int {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name yaml.Node }
		}
		if decoder.Decode(&object) != nil {
			return 0 // the file cannot be read, or ends
		}
		if object.Kind == "Service" && object.Metadata.Name.Value == name {
			return object.Metadata.Name.Line
		}
	}
}
