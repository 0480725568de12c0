package charts

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/codebase"
)

// configAnnotation is that of a chart which is made of another kustomization than a project usually has.
const configAnnotation = "slipway.dev/kustomize"

// noteConfig has the chart's own file name the kustomization, so that the next run makes the chart of the same one.
func (c *Chart) noteConfig(files map[string][]byte) {
	if c.Config == codebase.DeployedFolder {
		return
	}
	files[chart.Mark] = fmt.Appendf(files[chart.Mark], "annotations:\n  %s: %q\n", configAnnotation, c.Config)
}

// notedConfig is the kustomization that a chart was made of, from its own file; "" for the usual one.
func notedConfig(text []byte) string {
	var file struct{ Annotations map[string]string }
	if yaml.Unmarshal(text, &file) != nil {
		return "" // damaged: the usual one counts
	}
	return file.Annotations[configAnnotation]
}
