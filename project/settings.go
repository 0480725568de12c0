package project

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Settings are what a project says of how its programs are run on a developer's machine. They are kept below
// `plugins.slipway.dev/v1`:
//
//	plugins:
//	  slipway.dev/v1:
//	    managers:
//	    - package: cmd
//	      args: [--zap-log-level=debug]
//	      env:
//	        REGION: test
type Settings struct {
	Managers []ManagerSettings `yaml:"managers"`
}

// ManagerSettings are those of one program.
type ManagerSettings struct {
	Package string            `yaml:"package"` // the folder of its main package
	Args    []string          `yaml:"args"`    // in place of those of the Makefile and the Deployment
	Env     map[string]string `yaml:"env"`     // over those of the Makefile and the Deployment

	Line int `yaml:"-"` // in the file
}

// The keys of settings.
var (
	settingsKeys = []string{"managers", "scaffold"} // scaffold is what the project was made with
	managerKeys  = []string{"package", "args", "env"}
)

// reserved are variables, and beginnings of names, by which a project could choose the cluster, another program or its
// libraries, or what slipway does.
var reserved = []string{"KUBECONFIG", "KUBERNETES_", "PATH", "HOME", "TMPDIR", "TMP", "LD_", "DYLD_", "SLIPWAY_", "GOFLAGS", "GOENV", "GOROOT", "GOTOOLCHAIN", "GODEBUG", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY"}

// Settings returns what the file says of how programs are run. A key that settings do not have, and a variable that a
// project may not set, are a [*FieldError] with its line.
func (p *Project) Settings() (s Settings, err error) {
	if p == nil || p.doc == nil {
		return s, nil
	}
	plugins, ok := lookup(p.doc.Content[0], "plugins")
	if !ok || plugins.Kind != yaml.MappingNode {
		return s, nil
	}
	node, ok := lookup(plugins, PluginKey)
	if !ok {
		return s, nil
	}
	at := "plugins." + PluginKey
	if err := settingsMapping(node, at, settingsKeys); err != nil {
		return s, err
	}
	for _, m := range items(node, "managers") {
		manager, err := managerSettings(m, at+".managers")
		if err != nil {
			return s, err
		}
		s.Managers = append(s.Managers, manager)
	}
	return s, nil
}

// settingsMapping checks that a node is a mapping with known keys.
func settingsMapping(n *yaml.Node, at string, known []string) error {
	if n.Kind != yaml.MappingNode {
		return &FieldError{File: FileName, Line: n.Line, Column: n.Column, Field: at, Problem: "is no mapping"}
	}
	if found := unknownIn(n, at, known); found != nil {
		found.Problem = "is no setting"
		found.Expected = "one of " + strings.Join(known, ", ")
		return &found.FieldError
	}
	return nil
}

func managerSettings(n *yaml.Node, at string) (m ManagerSettings, err error) {
	if err := settingsMapping(n, at, managerKeys); err != nil {
		return m, err
	}
	if err := n.Decode(&m); err != nil {
		return m, &FieldError{File: FileName, Line: n.Line, Column: n.Column, Field: at, Problem: "cannot be read: " + err.Error()}
	}
	m.Line = n.Line
	env, _ := lookup(n, "env")
	for name := range m.Env { // also what anchors and merges bring
		if isReserved(name) {
			return m, &FieldError{File: FileName, Line: lineOf(env, name), Column: 1, Field: at + ".env", Value: name,
				Problem: "cannot be set by a project", Expected: "variables of the program's own; set this one in your shell"}
		}
	}
	return m, nil
}

// lineOf is the line of a key in a mapping, or of the mapping itself.
func lineOf(n *yaml.Node, key string) int {
	if n == nil {
		return 0
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i].Line
		}
	}
	return n.Line
}

// isReserved reports whether a project may not set a variable.
func isReserved(name string) bool {
	return strings.ContainsAny(name, "=\x00") || name == "" || slices.ContainsFunc(reserved, func(r string) bool {
		return name == r || strings.HasSuffix(r, "_") && strings.HasPrefix(name, r)
	})
}
