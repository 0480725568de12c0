package charts

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/codebase"
)

// configAnnotation is in the Chart.yaml of a chart that was not made from config/default.
const configAnnotation = "slipway.dev/kustomize"

// noteConfig records the kustomization's folder in Chart.yaml, so that the next run uses the same one.
func (c *Chart) noteConfig(files map[string][]byte) {
	if c.Config == codebase.DeployedFolder {
		return
	}
	files[chart.Mark] = fmt.Appendf(files[chart.Mark], "annotations:\n  %s: %q\n", configAnnotation, c.Config)
}

// notedConfig returns the kustomization's folder that a Chart.yaml records, or "" for the default.
func notedConfig(text []byte) string {
	var file struct{ Annotations map[string]string }
	if yaml.Unmarshal(text, &file) != nil {
		return "" // damaged: use the default
	}
	return file.Annotations[configAnnotation]
}
