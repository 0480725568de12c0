package load

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
)

// readWorkspace reads a go.work and the go.mod files that it uses.
func (m *modules) readWorkspace(work string) error {
	data, err := m.loader.config.Inputs.ReadFile(work)
	if err != nil {
		return &report.Error{Class: report.BadProject, What: "go.work cannot be read", Where: work, Err: err}
	}
	file, err := modfile.ParseWork(work, data, nil)
	if err != nil {
		return &report.Error{Class: report.BadProject, What: "go.work cannot be read", Where: work, Err: err}
	}
	m.root, m.work = filepath.Dir(work), work
	var files []*modfile.File
	for _, use := range file.Use {
		dir := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(m.root, dir)
		}
		mod, err := m.loader.readModFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return err
		}
		m.add(mod, dir)
		files = append(files, mod)
	}
	m.override(file.Replace)
	if m.useVendor(file.Go, true); m.vendor == "" {
		m.useSelected(files)
	}
	return nil
}

// override replaces modules as go.work says, whatever go.mod files say about any version of them.
func (m *modules) override(replaces []*modfile.Replace) {
	for _, replace := range replaces {
		maps.DeleteFunc(m.replaced, func(old module.Version, _ location) bool { return old.Path == replace.Old.Path })
	}
	m.replace(replaces, m.root)
}

// askGo learns from the go command where all modules are. It happens once.
func (m *modules) askGo(why string) {
	m.list.Do(func() {
		m.loader.config.Inputs.Opaque()
		m.loader.Note(fmt.Sprintf("%s: asking the go command for modules, because %s", m.root, why))
		m.loader.config.Notes.Handle(report.Detail{Text: "asking the go command where the modules of " + m.root + " are"})
		out, err := m.goOutput("list", "-m", "-e", "-f", "{{.Path}}\t{{.Dir}}", "all")
		if err != nil {
			m.loader.Note("go list failed: " + err.Error())
		}
		m.asked = make(map[string]string)
		for line := range bytes.Lines(out) {
			path, dir, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
			if dir != "" {
				m.asked[path] = dir
			}
		}
	})
}
