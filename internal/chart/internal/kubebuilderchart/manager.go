package kubebuilderchart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pluginFlags are flags that the plug-in's templates set from other values.
var pluginFlags = []string{"--metrics-bind-address", "--metrics-secure", "--health-probe-bind-address", "--webhook-port", "--webhook-cert-path", "--metrics-cert-path"}

func toStrings(literal any) []string {
	items, _ := literal.([]any)
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprint(item)
	}
	return texts
}

func flag(argument string) string {
	name, _, _ := strings.Cut(argument, "=")
	return name
}

// arguments merges the manager's arguments: the new ones with the user's changes, then the user's own.
func (m *merger) arguments(path string, made, former []string) any {
	result := []any{}
	for _, argument := range made {
		i := slices.IndexFunc(former, func(a string) bool { return flag(a) == flag(argument) })
		switch {
		case i >= 0:
			result = append(result, former[i])
		case slices.Contains(pluginFlags, flag(argument)):
			result = append(result, argument)
		}
	}
	for _, argument := range former {
		switch {
		case slices.ContainsFunc(made, func(a string) bool { return flag(a) == flag(argument) }), m.chart.words.lines[argument]:
		case m.templated(flag(argument)):
			m.noteFlag(path, argument)
		default:
			result = append(result, argument)
		}
	}
	return result
}

// templated reports whether the chart's templates set a flag.
func (m *merger) templated(flag string) bool {
	for line := range m.chart.words.lines {
		if line == flag || strings.HasPrefix(line, flag+"=") {
			return true
		}
	}
	return false
}

// noteFlag reports an argument that the configuration sets to another value.
func (m *merger) noteFlag(path, argument string) {
	if port, ok := m.into.Get("metrics.port"); ok && argument == fmt.Sprintf("--metrics-bind-address=:%v", port) {
		return
	}
	m.notes = append(m.notes, fmt.Sprintf("%s: %s is left out: the project sets this flag; change it in %s", path, argument, inManager))
}

// variables merges the manager's variables: the new ones with the user's changes, then the user's own.
func (m *merger) variables(path string, made, former any) any {
	result, _ := made.([]any)
	result = slices.Clone(result)
	for _, variable := range listed(former) {
		name := fmt.Sprint(variable["name"])
		i := slices.IndexFunc(result, func(v any) bool {
			there, _ := v.(map[string]any)
			return there["name"] == name
		})
		switch {
		case i >= 0:
			result[i] = variable
		case !m.chart.words.lines["name: "+name]:
			result = append(result, variable)
		case !m.follows("", variable):
			m.notes = append(m.notes, fmt.Sprintf("%s: %s is left out: the project sets this variable; change it in %s", path, name, inManager))
		}
	}
	if result == nil {
		return []any{}
	}
	return result
}

// listed returns variables as a list. Some charts have them as a mapping.
func listed(literal any) []map[string]any {
	var variables []map[string]any
	switch v := literal.(type) {
	case []any:
		for _, item := range v {
			if variable, ok := item.(map[string]any); ok {
				variables = append(variables, variable)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			variables = append(variables, map[string]any{"name": name, "value": fmt.Sprint(v[name])})
		}
	}
	return variables
}
