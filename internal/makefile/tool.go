package makefile

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Tool is how a Makefile has a program.
type Tool struct {
	Name    string // of its file, like controller-gen-v0.20.1; "" if the Makefile does not say
	Version string // that the Makefile installs or runs; "" if it does not say
	// ByGo is set when the go command runs the program: without a version it is of the one that go.mod names.
	ByGo bool
}

// ToolOf finds out how a Makefile has a program that is installed from a Go package. Getenv and files are those of
// [Calls].
func ToolOf(content []byte, program Program, pkg string, getenv func(string) string, files fs.FS) Tool {
	m := read(string(content), getenv, files)
	value := m.expandKnown(m.variables[program.Variable].value)
	tool := Tool{Name: program.nameIn(value)}
	tool.ByGo = strings.HasPrefix(value, "go ")
	versions := regexp.MustCompile(regexp.QuoteMeta(pkg) + `(?:@|[\s,]+(?:[^\s,@]+[\s,]+)?)(` + versionPattern + `)`)
	texts := []string{value}
	for _, r := range m.recipes {
		texts = append(texts, m.expandKnown(r.text))
	}
	for _, name := range slices.Sorted(maps.Keys(m.variables)) {
		texts = append(texts, m.expandKnown(m.variables[name].value))
	}
	for _, text := range texts {
		if found := versions.FindStringSubmatch(text); found != nil {
			tool.Version = found[1]
			return tool
		}
	}
	return tool
}

// versionPattern matches a version of a module and nothing longer.
const versionPattern = `v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?\b`

// nameIn is the name of the program's file, with which the value of its variable ends.
func (p Program) nameIn(value string) string {
	value = strings.TrimRight(value, `)}"' `)
	if at := strings.LastIndexAny(value, ` ("'`); at >= 0 {
		value = value[at+1:]
	}
	name, _, _ := strings.Cut(path.Base(value), "@")
	if name == p.Name || strings.HasPrefix(name, p.Name+"-") && !strings.ContainsAny(name, "$"+opaque) {
		return name
	}
	return ""
}

var plainReference = lazy.Regexp(`\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})`)

// maxText bounds what references make of a text, in bytes.
const maxText = 64 << 10

// expandKnown replaces the references that have a value and leaves all others as they are.
func (m *reader) expandKnown(text string) string {
	for range maxDepth {
		expanded := m.replaceKnown(text)
		if expanded == text {
			break
		}
		text = expanded
	}
	return text
}

// replaceKnown replaces references once: by opaque, where values would make the text too long.
func (m *reader) replaceKnown(text string) string {
	size := len(text)
	return plainReference().ReplaceAllStringFunc(text, func(reference string) string {
		v, known := m.variables[reference[2:len(reference)-1]]
		if !known || v.conditional {
			return reference
		}
		if size += len(v.value); size > maxText || !m.affords(len(v.value)) {
			return opaque
		}
		return v.value
	})
}
