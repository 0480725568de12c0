package feature

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
)

// metricsService is the Service of the metrics, by slipway and by kubebuilder.
const metricsService = "controller-manager-metrics-service"

// refuseOtherMetrics refuses a project whose Service for metrics another tool made, which has the same name.
func (p *planner) refuseOtherMetrics() error {
	if p.Recording() {
		return nil
	}
	found, err := fs.Glob(os.DirFS(p.Root()), codebase.DeployedFolder+"/*metrics_service.yaml")
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &report.Error{
			What: "the project already has a Service for metrics", Where: found[0],
			Hint: "nothing was changed; metrics are on if " + p.defaultConfig() + " lists " + path.Base(found[0]) + " and the patch with the manager's argument",
		}
	}
	files, err := p.After().DeployedFiles(codebase.DeployedFolder)
	if err != nil {
		return err
	}
	for _, l := range files {
		if err := p.refuseServiceIn(l); err != nil {
			return err
		}
	}
	return nil
}

// refuseServiceIn refuses a file with a Service of that name that is deployed.
func (p *planner) refuseServiceIn(l codebase.Listed) error {
	c, err := p.Find(l.File)
	if err != nil {
		return err
	}
	line := serviceLine(c.After(), metricsService)
	if line == 0 || l.File == path.Join(Metrics.folder(), path.Base(l.File)) {
		return nil
	}
	return &report.Error{
		What: "the project already has a Service for metrics", Where: fmt.Sprintf("%s:%d", l.File, line),
		Hint: fmt.Sprintf("nothing was changed; that Service serves the metrics. For slipway's Service, remove %s and related files from the resources of %s, "+
			"and run the command again", path.Base(l.File), l.By),
	}
}

// requireNamedMetrics is [planner.refuseMetricsOfOtherName] as a step of a feature's planning.
func (p *planner) requireNamedMetrics(f Feature) func() error {
	return func() error { return p.refuseMetricsOfOtherName(f) }
}

// refuseMetricsOfOtherName refuses what selects the metrics by their Service's name and labels, in a project that has
// no Service for them, or one with others: it would select nothing.
func (p *planner) refuseMetricsOfOtherName(f Feature) error {
	if there, err := p.Exists(p.component(Metrics)); err != nil || there || p.Recording() {
		return err
	}
	files, err := p.metricsFiles()
	if err != nil {
		return err
	}
	var other *report.Error
	for _, file := range files {
		c, err := p.Find(file)
		if err != nil {
			return err
		}
		if serviceLine(c.After(), metricsService) > 0 {
			return nil
		}
		if name, line := otherMetricsService(c.After()); line > 0 && other == nil {
			other = &report.Error{
				What: fmt.Sprintf("%s is about the Service %s, and the project's Service for metrics is %s", f, metricsService, name), Where: fmt.Sprintf("%s:%d", file, line),
				Hint: "nothing was changed; give it that name and the labels of the manager's pods, or write what reads its metrics by hand",
			}
		}
	}
	if other == nil {
		return &report.Error{
			What: fmt.Sprintf("%s is about the Service %s, which the project does not have", f, metricsService), Where: codebase.DeployedFolder,
			Hint: "nothing was changed; enable metrics first, which adds it", Next: "slipway edit --enable metrics," + string(f),
		}
	}
	return other
}

// metricsFiles are the files that may have the Service of the metrics: those of the folders where tools write it,
// listed or not yet, and what is deployed of others.
func (p *planner) metricsFiles() ([]string, error) {
	var files []string
	for _, folder := range []string{codebase.DeployedFolder, "config/rbac", path.Dir(managerFile), "config/metrics"} {
		found, err := fs.Glob(os.DirFS(p.Root()), folder+"/*.yaml")
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	built, err := p.After().DeployedFiles(codebase.DeployedFolder)
	for _, l := range built {
		files = append(files, l.File)
	}
	return files, err
}

// otherMetricsService is the name of a file's Service for metrics, by its name, and the line of that.
func otherMetricsService(src []byte) (name string, line int) {
	for _, s := range servicesIn(src) {
		if strings.Contains(s.Metadata.Name.Value, "metrics") {
			return s.Metadata.Name.Value, s.Metadata.Name.Line
		}
	}
	return "", 0
}

// serviceLine is the line with a Service's name in a file, or 0.
func serviceLine(src []byte, name string) int {
	for _, s := range servicesIn(src) {
		if s.Metadata.Name.Value == name {
			return s.Metadata.Name.Line
		}
	}
	return 0
}

type service struct {
	Kind     string
	Metadata struct{ Name yaml.Node }
}

// servicesIn are the Services of a file, up to what cannot be read.
func servicesIn(src []byte) (all []service) {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var object service
		if decoder.Decode(&object) != nil {
			return all
		}
		if object.Kind == "Service" {
			all = append(all, object)
		}
	}
}
