package kubebuilderchart

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/report"
)

// generatedBy is the annotation that identifies charts of kubebuilder's Helm plug-in, and kubebuilder its value.
const generatedBy, kubebuilder = "kubebuilder.io/generated-by", "kubebuilder"

// IsPlugins reports whether the plug-in wrote this Chart.yaml.
func IsPlugins(text []byte) bool {
	var o struct{ Annotations map[string]string }
	return yaml.Unmarshal(text, &o) == nil && o.Annotations[generatedBy] == kubebuilder
}

// chartName returns the name in a Chart.yaml, or "" if it is damaged.
func chartName(text string) string {
	var o struct{ Name string }
	if yaml.Unmarshal([]byte(text), &o) != nil {
		return ""
	}
	return o.Name
}

// ChartFile returns the made Chart.yaml with the user's additions: description, dependencies, maintainers and so on.
func (c *Chart) ChartFile(made string) (string, error) {
	var document yaml.Node
	text := c.files[ChartFile]
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return "", &report.Error{Class: report.BadProject, What: "the chart's file cannot be read", Where: filepath.Join(c.dir, ChartFile), Hint: err.Error()}
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return made, nil
	}
	if strings.ContainsAny(text, otherEnds) {
		return "", &report.Error{Class: report.BadProject, What: "the chart's file has Windows line ends", Where: filepath.Join(c.dir, ChartFile), Hint: "nothing was changed; end its lines with \\n"}
	}
	lines := strings.SplitAfter(text, "\n")
	content := document.Content[0].Content
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		end := len(lines)
		if i+2 < len(content) {
			end = content[i+2].Line - 1 - commentLines(content[i+2].HeadComment)
		}
		block := strings.TrimRight(strings.Join(lines[key.Line-1:end], ""), "\n") + "\n"
		switch {
		case slices.Contains([]string{"apiVersion", "name", "type", "version", "appVersion"}, key.Value), pluginIcon(key, value):
		case key.Value == "description":
			made = replaceLine(made, "description: ", block)
		case key.Value == "annotations":
			made += annotations(value)
		default:
			made += block
		}
	}
	return made, nil
}

// otherEnds are line breaks in YAML other than \n.
const otherEnds = "\r\u0085\u2028\u2029"

func commentLines(comment string) int {
	if comment == "" {
		return 0
	}
	return 1 + strings.Count(comment, "\n")
}

// pluginIcon reports whether this is the plug-in's icon, a placeholder.
func pluginIcon(key, value *yaml.Node) bool {
	return key.Value == "icon" && value.Value == "https://example.com/icon.png"
}

func replaceLine(text, begins, by string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begins) {
			line = by
		}
		out.WriteString(line)
	}
	return out.String()
}

// annotations returns the text of the user's annotations, without the plug-in's.
func annotations(value *yaml.Node) string {
	var own map[string]string
	if value.Decode(&own) != nil {
		return ""
	}
	delete(own, generatedBy)
	if len(own) == 0 {
		return ""
	}
	text, err := yaml.Marshal(map[string]any{"annotations": own})
	if err != nil {
		return ""
	}
	return string(text)
}
