package gomod

import "golang.org/x/mod/modfile"

// Go is the version of the go line, such as "1.25.0"; "" without one.
func (m *File) Go() string {
	if m.file.Go == nil {
		return ""
	}
	return m.file.Go.Version
}

// Version is the version of a module that is built with, and the line of go.mod that says so; "" for a module that is
// not required, or that a folder replaces.
func (m *File) Version(module string) (version string, line int) {
	for _, r := range m.file.Require {
		if r.Mod.Path == module {
			version, line = r.Mod.Version, lineOf(r.Syntax)
		}
	}
	if version == "" {
		return "", 0
	}
	for _, r := range m.file.Replace {
		if r.Old.Path == module && (r.Old.Version == "" || r.Old.Version == version) {
			return r.New.Version, lineOf(r.Syntax)
		}
	}
	return version, line
}

func lineOf(syntax *modfile.Line) int {
	if syntax == nil {
		return 0
	}
	return syntax.Start.Line
}
