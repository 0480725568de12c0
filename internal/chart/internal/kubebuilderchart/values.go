package kubebuilderchart

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// Values are the values of the new chart, into which the former chart's are merged.
type Values interface {
	// Get returns the value of a setting; ok is false if there is none.
	Get(path string) (literal any, ok bool)
	// Change changes the value of a setting.
	Change(path string, literal any)
	// Add adds a setting to a group, or to the top if group is "". The key may contain dots.
	Add(group, key, comment string, literal any)
}

// A place is where a value of the plug-in belongs in the new chart.
type place struct {
	to            string // the new name; "" is the same
	pluginDefault any    // the plug-in's default, for values without a new place
	elsewhere     string // where else to set it
}

const inManager = "config/manager/manager.yaml"

// places are the values that the plug-in writes, in its second and in its first form. Most of the second form keep
// their names, so their to is "".
var places = map[string]place{
	"nameOverride": {}, "fullnameOverride": {},

	"manager.enabled": {pluginDefault: true}, "manager.replicas": {}, "manager.env": {}, "manager.imagePullSecrets": {},
	"manager.image.repository": {}, "manager.image.tag": {}, "manager.image.pullPolicy": {}, "manager.args": {},
	"manager.podSecurityContext": {}, "manager.securityContext": {}, "manager.resources": {}, "manager.affinity": {},
	"manager.nodeSelector": {}, "manager.tolerations": {}, "manager.topologySpreadConstraints": {},
	"manager.priorityClassName": {}, "manager.pod.labels": {}, "manager.pod.annotations": {}, "manager.labels": {},
	"manager.annotations": {}, "manager.strategy": {}, "manager.extraVolumes": {}, "manager.extraVolumeMounts": {},
	"manager.terminationGracePeriodSeconds": {pluginDefault: 10},
	"manager.healthProbe.port":              {pluginDefault: 8081, elsewhere: inManager},
	"manager.envOverrides":                  {to: "manager.env"},

	"rbac.create":          {pluginDefault: true, elsewhere: "config/rbac"},
	"rbac.namespaced":      {pluginDefault: false, elsewhere: "slipway edit --namespaced"},
	"rbac.roleNamespaces":  {elsewhere: "config/rbac"},
	"rbac.helpers.enabled": {pluginDefault: false, elsewhere: "config/rbac"},

	"serviceAccount.enabled": {}, "serviceAccount.name": {}, "serviceAccount.annotations": {}, "serviceAccount.labels": {},
	"crd.enabled": {pluginDefault: true}, "crd.keep": {pluginDefault: true},

	"metrics.enabled":        {pluginDefault: false, elsewhere: "slipway edit --enable metrics"},
	"metrics.port":           {pluginDefault: 8443, elsewhere: "config/default/manager_metrics_patch.yaml"},
	"metrics.secure":         {pluginDefault: true, elsewhere: "config/default/manager_metrics_patch.yaml"},
	"certManager.enabled":    {pluginDefault: false, elsewhere: "slipway edit --certs cert-manager"},
	"webhook.enabled":        {pluginDefault: false, elsewhere: "slipway create webhook"},
	"webhook.port":           {pluginDefault: 9443, elsewhere: inManager},
	"prometheus.enabled":     {pluginDefault: false, elsewhere: "slipway edit --enable prometheus"},
	"prometheus.labels":      {elsewhere: "config/prometheus/monitor.yaml"},
	"prometheus.annotations": {elsewhere: "config/prometheus/monitor.yaml"},
	"networkPolicy.enabled":  {pluginDefault: false, elsewhere: "slipway edit --enable network-policy"},

	"controllerManager.replicas":                      {to: "manager.replicas"},
	"controllerManager.container.image.repository":    {to: "manager.image.repository"},
	"controllerManager.container.image.tag":           {to: "manager.image.tag"},
	"controllerManager.container.image.pullPolicy":    {to: "manager.image.pullPolicy"},
	"controllerManager.container.imagePullPolicy":     {to: "manager.image.pullPolicy"},
	"controllerManager.container.args":                {to: "manager.args"},
	"controllerManager.container.env":                 {to: "manager.env"},
	"controllerManager.container.resources":           {to: "manager.resources"},
	"controllerManager.container.securityContext":     {to: "manager.securityContext"},
	"controllerManager.container.livenessProbe":       {elsewhere: inManager},
	"controllerManager.container.readinessProbe":      {elsewhere: inManager},
	"controllerManager.securityContext":               {to: "manager.podSecurityContext"},
	"controllerManager.terminationGracePeriodSeconds": {pluginDefault: 10, elsewhere: inManager},
	"controllerManager.serviceAccountName":            {to: "serviceAccount.name"},
	"controllerManager.serviceAccount.annotations":    {to: "serviceAccount.annotations"},
	"controllerManager.pod.labels":                    {to: "manager.pod.labels"},
	"rbac.enable":                                     {pluginDefault: true, elsewhere: "config/rbac"},
	"crd.enable":                                      {to: "crd.enabled", pluginDefault: true},
	"metrics.enable":                                  {to: "metrics.enabled", pluginDefault: false, elsewhere: "slipway edit --enable metrics"},
	"webhook.enable":                                  {to: "webhook.enabled", pluginDefault: false, elsewhere: "slipway create webhook"},
	"prometheus.enable":                               {to: "prometheus.enabled", pluginDefault: false, elsewhere: "slipway edit --enable prometheus"},
	"certmanager.enable":                              {to: "certManager.enabled", pluginDefault: false, elsewhere: "slipway edit --certs cert-manager"},
	"networkPolicy.enable":                            {to: "networkPolicy.enabled", pluginDefault: false, elsewhere: "slipway edit --enable network-policy"},
}

// placeOf returns the place of a value, if the plug-in has it.
func placeOf(path string) (place, bool) {
	p, known := places[path]
	if p.to == "" {
		p.to = path
	}
	return p, known
}

// isPlugins reports whether the plug-in has a value at, below or above a path.
func isPlugins(path string) bool {
	_, ok := places[path]
	return ok || isGroup(path) || slices.ContainsFunc(slices.Collect(maps.Keys(places)), func(known string) bool { return strings.HasPrefix(path, known+".") })
}

func isGroup(path string) bool {
	for known := range places {
		if strings.HasPrefix(known, path+".") {
			return true
		}
	}
	return false
}

var (
	valuePath  = lazy.Regexp(`\.Values((?:\.[A-Za-z_][A-Za-z0-9_]*)+)`)
	valueIndex = lazy.Regexp(`index\s+\$?\.Values((?:\s+"[^"]+")+)`)
)

// UsedValues returns the paths of the values that a template reads.
func UsedValues(text string) []string {
	var paths []string
	for _, found := range valuePath().FindAllStringSubmatch(text, -1) {
		paths = append(paths, found[1][1:])
	}
	for _, found := range valueIndex().FindAllStringSubmatch(text, -1) {
		paths = append(paths, strings.Join(strings.Fields(strings.ReplaceAll(found[1], `"`, "")), "."))
	}
	return paths
}

// Merge merges the former chart's values into the new ones. Remaining templates read the values in used, which
// therefore keep their names too. Removed templates read those in gone. Notes list values with another name and without
// a counterpart.
func (c *Chart) Merge(into Values, used, gone []string) (notes []string, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(c.files[ValuesFile]), &document); err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the chart's values cannot be read", Where: filepath.Join(c.dir, ValuesFile), Hint: err.Error()}
	}
	m := &merger{chart: c, into: into, used: used, gone: gone, seen: map[string]bool{}, lost: map[string][]string{}}
	if len(document.Content) > 0 {
		err = m.group(document.Content[0], "")
	}
	m.unset()
	if m.untagged() {
		into.Change("manager.image.tag", "")
	}
	return slices.Concat(m.notes, m.lists()), err
}

type merger struct {
	chart   *Chart
	into    Values
	used    []string
	gone    []string
	notes   []string
	seen    map[string]bool // paths that the former chart sets
	renamed []string
	lost    map[string][]string // paths without a counterpart, by what to use instead
	image   bool                // the former chart sets the image's repository
	tag     bool
}

// untagged reports whether the former chart takes the image's tag from appVersion.
func (m *merger) untagged() bool { return m.image && !m.tag }

// group merges the values below a path.
func (m *merger) group(n *yaml.Node, path string) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		place, known := placeOf(inner)
		if !known && value.Kind == yaml.MappingNode && isGroup(inner) {
			if err := m.group(value, inner); err != nil {
				return err
			}
			continue
		}
		var literal any
		if err := value.Decode(&literal); err != nil {
			return &report.Error{Class: report.BadProject, What: "a value of the chart cannot be read", Where: fmt.Sprintf("%s:%d", filepath.Join(m.chart.dir, ValuesFile), value.Line), Hint: err.Error()}
		}
		if !known || m.needed(inner) {
			m.into.Add(path, key.Value, uncommented(key.HeadComment), literal)
		}
		if known {
			m.place(inner, place, literal)
		}
	}
	return nil
}

func uncommented(comment string) string {
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimLeft(line, "#"))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// needed reports whether a remaining template reads a value at, above or below a path.
func (m *merger) needed(path string) bool {
	return slices.ContainsFunc(m.used, func(used string) bool {
		return used == path || strings.HasPrefix(path, used+".") || strings.HasPrefix(used, path+".")
	})
}

// place moves a value of the plug-in to its new place.
func (m *merger) place(path string, p place, literal any) {
	switch {
	case strings.HasSuffix(path, ".image.repository"):
		m.image = true
	case strings.HasSuffix(path, ".image.tag"):
		m.tag = true
	}
	m.seen[path] = true
	if !m.placed(p) {
		m.noCounterpart(path, p, literal)
		return
	}
	m.rename(path, p)
	made, _ := m.into.Get(p.to)
	switch {
	case path == "controllerManager.serviceAccountName" && m.chart.words.plain(fmt.Sprint(literal)) == "controller-manager":
		return
	case p.to == "manager.args":
		literal = m.arguments(path, toStrings(made), toStrings(literal))
	case p.to == "manager.env":
		literal = m.variables(path, made, literal)
	case empty(literal):
		literal = emptied(made)
	}
	m.into.Change(p.to, literal)
}

func empty(literal any) bool {
	switch v := literal.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// emptied returns the empty value of a literal's type.
func emptied(literal any) any {
	switch literal.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	}
	return ""
}
