package feature

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// metricsService is the name that slipway and kubebuilder give the Service of the metrics.
const metricsService = "controller-manager-metrics-service"

// requireNamedMetrics refuses a feature that selects the metrics' Service by name and labels, in a project without such
// a Service: the feature would select nothing.
func (p *planner) requireNamedMetrics(f features.Name) error {
	if there, err := p.Exists(p.component(features.Metrics)); err != nil || there || p.Recording() {
		return err
	}
	files, err := p.After().DeployedFiles(codebase.DeployedFolder)
	if err != nil {
		return err
	}
	refusal := &report.Error{
		What: fmt.Sprintf("%s is about the Service %s, which the project does not have", f, metricsService), Where: codebase.DeployedFolder,
		Hint: "nothing was changed; enable metrics first, which adds it", Next: "slipway edit --enable metrics," + string(f),
		Code: report.UsageCode,
	}
	for _, l := range files {
		c, err := p.Find(l.File)
		if err != nil {
			return err
		}
		for _, name := range services(c.After()) {
			switch {
			case name.Value == metricsService:
				return nil
			case refusal.Next != "" && strings.Contains(name.Value, "metrics"):
				refusal = &report.Error{
					Class: report.BadProject,
					What:  fmt.Sprintf("%s is about the Service %s, and the project's Service for metrics is %s", f, metricsService, name.Value), Where: at(l.File, name.Line),
					Hint: "nothing was changed; give it that name and the labels of the manager's pods, or write what reads its metrics by hand",
				}
			}
		}
	}
	return refusal
}

func services(src []byte) (names []yaml.Node) {
	for _, object := range documents[struct {
		Kind     string
		Metadata struct{ Name yaml.Node }
	}](src) {
		if object.Kind == "Service" {
			names = append(names, object.Metadata.Name)
		}
	}
	return names
}

// documents decodes the documents of a YAML file, up to the first that cannot be read.
func documents[T any](src []byte) (all []T) {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var one T
		if decoder.Decode(&one) != nil {
			return all
		}
		all = append(all, one)
	}
}

// planAlertNames plans the replacements that put the job and the namespace into the expressions of alerts.
func (p *planner) planAlertNames() error {
	const name = "names_alerts.yaml"
	data := p.deployedData()
	if err := p.RequireFrom("features-names/"+name, "config/default/"+name, data); err != nil {
		return err
	}
	return p.Insert(p.defaultConfig(), plan.These(piece.Entry{List: "replacements", Text: "path: " + name}))
}
