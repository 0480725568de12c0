package operation

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/project"
)

// NoProject returns the error for a folder without a project. It suggests init only if there is no code yet.
func NoProject(s *Session) error {
	e := &report.Error{
		Class: report.BadProject,
		What:  "no project in this folder",
		Where: s.Dir,
		Hint:  "a file named " + project.FileName + " was expected here or in a folder above",
		Next:  "slipway init --domain example.com --repo example.com/operator",
	}
	if module := codeWithout(s); module != "" {
		e.Hint += "; verbs that write no code work without one. If the folders are those of kubebuilder's layout, write it by hand, with the lines " +
			`version: "3", layout: ` + project.Layout + ", repo: " + module + ", projectName, and domain, which the API groups end in"
		e.Next = ""
	}
	return e
}

// codeWithout returns the path of the module in the working folder if there is more than go.mod, else "".
func codeWithout(s *Session) string {
	more := slices.ContainsFunc([]string{"Makefile", "main.go", "cmd", "pkg", "api", "apis"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(s.Dir, name))
		return err == nil
	})
	content, err := safefs.ReadFile(filepath.Join(s.Dir, "go.mod"))
	if err != nil || !more {
		return ""
	}
	return modfile.ModulePath(content)
}
