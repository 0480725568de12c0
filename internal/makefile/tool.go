package makefile

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// Tool is how a Makefile names and installs a program.
type Tool struct {
	Name    string // file name, like controller-gen-v0.20.1; "" if unknown
	Version string // version that the Makefile or go.mod names; "" if neither does
	Moving  string // what the Makefile names instead of a version, such as latest or a branch
	Other   string // another version that the Makefile names besides
}

// ToolOf returns how a Makefile gets a program that is installed from the Go package pkg. Getenv and files are those of
// [Texts]; files have the project's go.mod, too.
func ToolOf(content []byte, program recipe.Program, pkg string, getenv func(string) string, files fs.FS) Tool {
	m := read(string(content), getenv, files, nil)
	value := m.expandKnown(m.variables[program.Variable].value)
	tool := Tool{Name: nameIn(program.Name, value)}
	versions := regexp.MustCompile(regexp.QuoteMeta(pkg) + `(?:@|[\s,]+(?:[^\s,@]+[\s,]+)?)(` + recipe.VersionPattern + `)`)
	moving := regexp.MustCompile(regexp.QuoteMeta(pkg) + `(?:@|\s*,\s*)([A-Za-z0-9][\w.-]*)`)
	texts := m.mentions(program.Variable)
	for _, text := range texts {
		for _, found := range versions.FindAllStringSubmatch(m.expandKnown(text), -1) {
			switch version := found[1]; {
			case tool.Version == "":
				tool.Version = version
			case version != tool.Version:
				tool.Other = version
			}
		}
	}
	if tool.Version != "" {
		return tool
	}
	for _, text := range texts {
		if tool.Version = recipe.Pinned(strings.TrimLeft(m.expand(text, 0), prefixes), "", program, pkg, files); tool.Version != "" {
			return tool
		}
	}
	for _, text := range texts {
		if found := moving.FindStringSubmatch(m.expandKnown(text)); found != nil {
			tool.Moving = found[1]
			return tool
		}
	}
	return tool
}

// mentions returns the unexpanded texts that may name a program's version, in order of preference.
func (m *reader) mentions(variable string) []string {
	texts := []string{m.variables[variable].value}
	for _, r := range m.recipes {
		texts = append(texts, r.text)
	}
	for _, name := range slices.Sorted(maps.Keys(m.variables)) {
		texts = append(texts, m.variables[name].value)
	}
	return texts
}

// nameIn returns the program's file name at the end of its variable's value, or "".
func nameIn(program, value string) string {
	value = strings.TrimRight(value, `)}"' `)
	if at := strings.LastIndexAny(value, ` ("'`); at >= 0 {
		value = value[at+1:]
	}
	name, _, _ := strings.Cut(path.Base(value), "@")
	if name == program || strings.HasPrefix(name, program+"-") && !strings.ContainsAny(name, "$"+unknownValue) {
		return name
	}
	return ""
}

var plainReference = lazy.Regexp(`\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})`)

// maxText bounds the result of expanding a text, in bytes.
const maxText = 64 << 10

// expandKnown replaces the references whose values are known and keeps all others.
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

// replaceKnown replaces references one level deep. Beyond the limits it inserts opaque.
func (m *reader) replaceKnown(text string) string {
	size := len(text)
	return plainReference().ReplaceAllStringFunc(text, func(reference string) string {
		v, known := m.variables[reference[2:len(reference)-1]]
		if !known || v.conditional {
			return reference
		}
		if size += len(v.value); size > maxText || !m.withinLimit(len(v.value)) {
			return unknownValue
		}
		return v.value
	})
}
